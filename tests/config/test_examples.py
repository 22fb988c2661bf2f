"""The examples in the docstrings of the central functions of configs."""

from __future__ import annotations

import doctest

import pytest

from translations_assets.config.datasets import parse_dataset
from translations_assets.config.errors import ConfigError
from translations_assets.config.load import parse_config
from translations_assets.config.migrate import migrated


@pytest.mark.parametrize("function", [parse_config, migrated, parse_dataset])
def test_an_example_is_true(function: object, capsys: pytest.CaptureFixture[str]) -> None:
    function = getattr(function, "__wrapped__", function)  # of a cached function
    functions = (migrated, parse_config, parse_dataset, ConfigError)
    names = {each.__name__: each for each in functions}
    (example,) = doctest.DocTestFinder(recurse=False).find(function, "example", globs=names)
    result = doctest.DocTestRunner().run(example)
    assert result.attempted
    assert result.failed == 0, capsys.readouterr().out
