"""One reader of the files in which steps tell of their work."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import translations_assets
from tests.memory_store import MemoryStore
from translations_assets.errors import DamagedError
from translations_assets.results import files

PACKAGE = Path(translations_assets.__file__).parent
NAMES = {files.STATISTICS, files.METRICS, files.SCORES, files.NUMBERS}
# Stages say what their scripts write; text of one's own is divided before there is a store.
NAMING = ("results/", "stages/", "own_corpus.py")


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


@pytest.mark.parametrize("contents", [b'{"lines": ', b"\xff", b"[1]", b"null"])
def test_a_damaged_file_is_told_with_what_to_do(contents: bytes) -> None:
    store = MemoryStore()
    outputs = {files.STATISTICS: store.add_bytes(contents)}
    with pytest.raises(DamagedError) as caught:
        files.read_file(store, outputs, files.STATISTICS, "clean-corpus-a")
    told = str(caught.value)
    assert told.startswith("stats.json of clean-corpus-a cannot be read: ")
    assert told.endswith("translations train PARTITION --start STAGE")


def test_what_a_step_does_not_leave_is_none() -> None:
    store = MemoryStore()
    outputs = {files.METRICS: store.add_bytes(b'{"updates": 3}')}
    assert files.read_file(store, outputs, files.STATISTICS, "train") is None
    assert files.read_file(store, outputs, files.METRICS, "train") == {"updates": 3}
