"""Tests that Dagster's definitions and the graphs of all training configs are as in the golden files.

An upstream name that no asset has becomes a silent external asset in Dagster: here it would show.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.golden import CONFIGS, FOLDER, GOLDEN, graph_of, present
from tests.golden.summary import summary
from translations_assets.cli.main import main
from translations_assets.graph.graph import Graph


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_file(name: str) -> None:
    """If the change is meant: `make golden`, and read the difference."""
    assert GOLDEN[name]() == (FOLDER / name).read_text(encoding="utf-8")


def test_every_golden_file_is_compared() -> None:
    """Of a config that was removed or renamed nothing stays behind."""
    assert [path.name for path in present()] == sorted(GOLDEN)


@pytest.mark.parametrize("partition", [path.stem for path in CONFIGS])
def test_the_command_prints_the_graph_of_every_config(
    partition: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRANSLATIONS_CONFIGS", str(CONFIGS[0].parent))
    monkeypatch.setattr("sys.argv", ["translations", "graph", partition, "--json"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    graph = graph_of(partition)
    assert list(json.loads(capsys.readouterr().out)) == [step.label for step in graph.steps]


def changed(graph: Graph, stage: str, **changes: Any) -> Graph:
    """The graph with something else in the first step of a stage."""
    first, *rest = graph.stages[stage]
    return Graph({**graph.stages, stage: (replace(first, **changes), *rest)}, graph.upstream)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"script": "pipeline.quantize.other"}, "  1 × pipeline.quantize.other  cpu  "),
        ({"worker": "large-cpu"}, "  1 × pipeline.quantize.export  large-cpu  "),
    ],
)
def test_a_change_of_one_step_changes_one_line(changes: dict[str, str], line: str) -> None:
    graph = graph_of("en-eo.demo")
    before = summary(graph).splitlines()
    after = summary(changed(graph, "export", **changes)).splitlines()
    (new,) = [text for text in after if text not in before]
    assert new.startswith(line)
