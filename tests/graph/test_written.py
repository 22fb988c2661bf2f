"""Tests that a graph is read as it was written, to the types of its arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tests.config.texts import SMALL
from tests.running.conftest import demo_config
from translations_assets.config.load import parse_config
from translations_assets.graph.graph import Graph
from translations_assets.graph.stage import build_graph, step
from translations_assets.graph.stage import stage as declared
from translations_assets.graph.step import Folder, LocalFile, Output, RepoFile, Step
from translations_assets.graph.written import from_json, to_json
from translations_assets.stages import STAGES

TEXTS = [SMALL, *(path.read_text() for path in sorted(Path("configs").glob("*.yml")))]


def plain(value: object) -> object:
    """A value with its type, and all that is in it; steps by their labels."""
    if isinstance(value, Output):
        return Output, value.step.label, value.name
    if isinstance(value, Folder):
        return Folder, [(name, plain(one)) for name, one in value.files.items()]
    if isinstance(value, Mapping):
        return dict, [(name, plain(one)) for name, one in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [plain(one) for one in value]
    return type(value), value


def described(graph: Graph) -> list[object]:
    """All of a graph."""
    steps = [[plain(getattr(one, field.name)) for field in fields(Step)] for one in graph.steps]
    stages = [(name, [one.label for one in made]) for name, made in graph.stages.items()]
    return [steps, stages, plain(graph.upstream), plain(graph.checks), graph.target]


def again(graph: Graph) -> Graph:
    return from_json(json.loads(json.dumps(to_json(graph))))


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_graph_is_read_as_it_was_written(text: str) -> None:
    graph = build_graph(parse_config(text, "my.yml"), STAGES)
    read = again(graph)
    assert described(read) == described(graph)
    assert [one.upstream for one in read.steps] != []
    assert all(up in read.steps for one in read.steps for up in one.upstream()), (
        "handles are of its own steps"
    )


def graph_with(**changes: Any) -> Graph:
    @declared(group="demo")
    def text(config: object) -> Step:
        return step("pipeline.demo.write", label="write", outputs=["a", "b"], **changes)

    return build_graph(demo_config(), {"text": text})


def test_kinds_of_values_stay_apart() -> None:
    args = {
        "flag": True,
        "none": None,
        "one": 1,
        "number": 1.0,
        "tiny": 1e-300,
        "text": "1",
        "empty": "",
        "several": ["a", "b"],
        "fixed": ("a", "b"),
        "none of them": [],
        "a mark": ["tuple"],
        "nested": [("a", 1)],
    }
    graph = graph_with(args=args, inputs={"marian": RepoFile("a.yml"), "two": [RepoFile("b"), RepoFile("c")]})
    assert described(again(graph)) == described(graph)


class Marked(str):
    """A text that knows more than its letters."""


@pytest.mark.parametrize(
    "changes",
    [
        {"inputs": {"text": LocalFile("/home/ann/text")}},
        {"args": {"day": object()}},
        {"args": {"name": Marked("text")}},
        {"args": {"mapping": {"tuple": 1}}},
    ],
)
def test_what_cannot_be_written_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        to_json(graph_with(**changes))


def test_nothing_is_read_as_a_graph_that_is_none() -> None:
    """Whatever stands in place of a part of it."""
    whole = json.loads(json.dumps(to_json(graph_with(args={"a": ("b",)}, inputs={"c": RepoFile("d")}))))
    for part in whole:
        for wrong in (None, 5, "text", [5], {"text": 5}, {"text": [{"label": 5}]}):
            try:
                read = from_json({**whole, part: wrong})
            except (AttributeError, KeyError, TypeError, ValueError):
                continue
            assert isinstance(read, Graph)
    with pytest.raises(KeyError):
        from_json({})
