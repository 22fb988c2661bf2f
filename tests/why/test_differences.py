"""Tests of the differences between two values, for people; and of the number of changed keys tried."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.config.texts import SMALL
from translations_assets.common.errors import TranslationsError
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.graph import Graph
from translations_assets.why.differences import MOST_CHANGES, ConfigChanges, changes


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ({"a": {"b": 15}}, {"a": {"b": 20}}, ["a.b: 15 → 20"]),
        ({"a": [1, "x"]}, {"a": ["x", 2, {"k": 1}]}, ["a: 2 added", 'a: {"k": 1} added', "a: 1 removed"]),
        ({"a": [1, 1, 2]}, {"a": [1, 2]}, ["a: 1 removed"]),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["a: order changed"]),
        ({"a": 1, "b": [2]}, {"a": 1, "b": [2]}, []),
    ],
)
def test_what_differs(old: object, new: object, told: list[str]) -> None:
    assert [line for change in changes(old, new) for line in change.lines()] == told


@pytest.mark.parametrize(("number", "tried"), [(MOST_CHANGES, True), (MOST_CHANGES + 1, False)])
def test_configs_that_differ_in_too_much_are_not_tried(number: int, tried: bool) -> None:
    now: dict[str, Any] = yaml.safe_load(SMALL)
    options = {f"option-{n}": n for n in range(number)}
    seen: list[TrainingConfig] = []

    def rebuild(config: TrainingConfig) -> Graph:
        seen.append(config)
        raise TranslationsError("no graph")

    found = ConfigChanges(
        {**now, "marian-args": {"training-teacher": options}},
        {**now, "marian-args": {"training-teacher": {}}},
        rebuild,
    )
    assert found.responsible("step", {("a",): 1}, {("a",): 2}) == ([], set())
    assert bool(seen) is tried
