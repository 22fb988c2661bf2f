"""A small config, and the problems of a text as `line key: message`."""

import pytest

from translations_assets.config.errors import ConfigError
from translations_assets.config.load import parse_config

SMALL = """\
experiment:
  name: small
  src: en
  trg: ru
datasets:
  train:
    - opus_ParaCrawl/v9
  devtest:
    - flores_dev
  test:
    - flores_devtest
"""


def problems_of(text: str) -> list[str]:
    """What is wrong with a config, one line each: `7 datasets.train[0]: message`."""
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "my.yml")
    return [f"{problem.line} {problem.key}: {problem.message}" for problem in caught.value.problems]


def problem_of(text: str) -> str:
    """The only thing that is wrong with a config."""
    (problem,) = problems_of(text)
    return problem


def with_line(line: str, after: str) -> str:
    """The small config with a line inserted."""
    assert f"{after}\n" in SMALL
    return SMALL.replace(f"{after}\n", f"{after}\n{line}\n")
