"""One reader of the files in which steps tell of their work."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import translations_assets
from tests.checks import numbers
from tests.memory_store import MemoryStore
from translations_assets.common.errors import DamagedError
from translations_assets.results import files
from translations_assets.results.scores import MetricScore, Scores
from translations_assets.results.statistics import LineCounts, Statistics
from translations_assets.results.training import Training

PACKAGE = Path(translations_assets.__file__).parent
NAMES = {files.STATISTICS, files.METRICS, files.SCORES, files.NUMBERS}
# Stages say what their scripts write; text of one's own is divided before there is a store.
NAMING = ("results/", "stages/", "configs/own_corpus.py")


def named_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and node.value in NAMES:
            yield f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"


def test_no_other_code_names_the_files() -> None:
    """Who does not name a file cannot read it."""
    found = {path: [*named_in(path)] for path in sorted(PACKAGE.rglob("*.py"))}
    assert any(found[PACKAGE / "results" / "files.py"])
    others = {path for path in found if not str(path.relative_to(PACKAGE)).startswith(NAMING)}
    assert [line for path in sorted(others) for line in found[path]] == []


@pytest.mark.parametrize(
    ("contents", "why"),
    [
        (b'{"lines": ', "Expecting value"),
        (b"\xff", "invalid start byte"),
        (b"[1]", "\\[1\\] is no mapping"),
        (b'{"lines": {"in": 3}}', "lines: it has no kept"),
        (b'{"lines": {"in": 3, "kept": -1}}', "lines: kept: -1 is no count"),
    ],
)
def test_a_damaged_file_is_told_with_what_to_do(contents: bytes, why: str) -> None:
    store = MemoryStore()
    outputs = {files.STATISTICS: store.add_bytes(contents)}
    with pytest.raises(DamagedError, match=why) as caught:
        files.read_statistics(store, outputs, "clean-corpus-a")
    told = str(caught.value)
    assert told.startswith("stats.json of clean-corpus-a cannot be read: ")
    assert told.endswith("translations train PARTITION --start STAGE")


def test_each_file_is_read_as_what_it_is() -> None:
    store = MemoryStore()
    made = {
        files.STATISTICS: {"lines": {"in": 3, "kept": 2}, "of a later version": 1},
        files.METRICS: {"updates": 3, "best": {}, "curve": []},
        files.SCORES: {"dataset": "x", "comet": {"score": 80.0}},
        files.NUMBERS: numbers.text(),
    }
    outputs = {name: store.add_bytes(json.dumps(value).encode()) for name, value in made.items()}
    assert files.read_statistics(store, outputs, "a") == Statistics(LineCounts(3, 2))
    assert files.read_metrics(store, outputs, "a") == Training(3, {}, (), {})
    assert files.read_scores(store, outputs, "a") == Scores("x", {"comet": MetricScore(80.0)})
    assert files.read_numbers(store, outputs, "a") == numbers.text()
    evaluated = {files.METRICS: outputs[files.SCORES]}
    assert files.read_metrics(store, evaluated, "a") == files.read_scores(store, outputs, "a")
    for read in (files.read_statistics, files.read_metrics, files.read_scores, files.read_numbers):
        assert read(store, {}, "a") is None
