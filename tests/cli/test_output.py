"""Tests of counts of states, padded, with colours and without."""

import re

import pytest

from translations_assets.cli.output import counts, shown

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("forced", ["", "1"])
def test_columns_are_as_wide_with_colours_as_without(monkeypatch: pytest.MonkeyPatch, forced: str) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", forced)
    columns = counts(["cached", "run", "cached"], 25), shown("failed", 10)
    assert [COLOURS.sub("", column) for column in columns] == [
        "2 cached, 1 run".ljust(25),
        "failed".ljust(10),
    ]
    assert any("\x1b" in column for column in columns) == bool(forced)
