"""The tiny pair with made-up results, and a copy of the code that steps run, to be edited."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.cli.conftest import Command, command, parsed_once, place
from tests.cli.shapes import check_shape
from tests.cli.test_explain import repository

__all__ = ["command", "parsed_once", "place", "repository"]

Diff = Callable[..., dict[str, Any]]


@pytest.fixture
def diff(command: Command) -> Diff:
    """Compares two sides, and gives the JSON, whose form is checked."""

    def compared(old: str, new: str, *options: str) -> dict[str, Any]:
        said = command("diff", old, new, "--json", *options)
        assert said.code == 0, said.err
        found: dict[str, Any] = json.loads(said.out)
        check_shape("diff", found)
        return found

    return compared
