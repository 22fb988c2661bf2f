"""The cache about code gives what an analysis would, as long as nothing changes, and nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.running.conftest import demo_graph
from translations_assets.graph.step import RepoFile
from translations_assets.keys import remembered
from translations_assets.keys.key import KeyMaker
from translations_assets.keys.remembered import MOST_FILES

WRITE, JOIN = "pipeline.demo.write", "pipeline.demo.join"


class TakenApart(Exception):
    """The code was taken apart."""


def key(root: Path, memory: Path | None) -> str:
    return KeyMaker(root, memory=memory).parts(demo_graph().step("write-a"), {}).digest


def is_remembered(root: Path, memory: Path) -> bool:
    """True if a key can be made without the code being taken apart; it is the key that would be made then."""
    with patch("translations_assets.keys.code.fingerprint.CodeBase", side_effect=TakenApart):
        try:
            found = key(root, memory)
        except TakenApart:
            return False
    assert found == key(root, None)
    return True


@pytest.fixture(autouse=True)
def begun(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test changes counts as older than the process: each maker of keys is that of a new one."""
    monkeypatch.setattr(remembered, "_BEGUN", time.time_ns() + 10**12)


@pytest.fixture
def memory(repository: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "keys"
    assert key(repository, folder) == key(repository, None)
    assert is_remembered(repository, folder)
    return folder


def append(name: str) -> Callable[[Path], object]:
    def change(root: Path) -> None:
        path = root / name
        path.write_text((path.read_text() if path.exists() else "") + "\n# more\n")

    return change


CHANGES: dict[str, Callable[[Path], object]] = {
    "a script": append("pipeline/demo/write.py"),
    "another module": append("pipeline/demo/new.py"),
    "a folder": lambda root: (root / "pipeline" / "numpy").mkdir(),
    "the lock": append("requirements/main.lock"),
    "accepted changes": append("pipeline/accepted-changes.yml"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_a_fingerprint_depends_on_counts(name: str, repository: Path, memory: Path) -> None:
    CHANGES[name](repository)
    assert not is_remembered(repository, memory)
    assert key(repository, memory) == key(repository, None)
    assert is_remembered(repository, memory)


def test_the_code_that_makes_keys_counts(repository: Path, memory: Path, tmp_path: Path) -> None:
    with patch.object(remembered, "_PACKAGE", tmp_path / "other"):
        assert not is_remembered(repository, memory)


def test_an_edit_that_leaves_size_and_time_is_noticed(repository: Path, memory: Path) -> None:
    path = repository / "pipeline/demo/write.py"
    before = path.stat()
    path.write_text(path.read_text().replace("word", "werd"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert not is_remembered(repository, memory)


def test_code_that_is_younger_than_the_process_may_not_be_what_it_runs(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "_BEGUN", 0)
    key(repository, tmp_path / "keys")
    assert not (tmp_path / "keys").exists()


def test_python_counts(repository: Path, memory: Path) -> None:
    with patch("sys.version", "4.0"):
        assert not is_remembered(repository, memory)


def test_a_damaged_file_is_none(repository: Path, memory: Path) -> None:
    (file,) = (file for file in memory.iterdir() if '"2.2.6"' in file.read_text())
    whole = file.read_text()
    for damaged in (whole[:-40], whole.replace('"2.2.6"', '"2.2.7"'), "[]", '{"value": 1}', ""):
        assert damaged != whole
        file.write_text(damaged)
        assert not is_remembered(repository, memory)


def test_nothing_is_remembered_of_code_that_changes_meanwhile(repository: Path, tmp_path: Path) -> None:
    keys = KeyMaker(repository, memory=tmp_path / "keys")
    keys.libraries(WRITE)
    append("pipeline/demo/join.py")(repository)
    keys.libraries(JOIN)
    assert len([*(tmp_path / "keys").iterdir()]) == 1


def test_a_folder_that_cannot_be_written_costs_time_alone(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert key(repository, tmp_path / "file" / "keys") == key(repository, None)


def test_only_the_newest_values_are_kept(
    repository: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_FILES > 150 * 2  # upstream's configs; twice the scripts and files of one
    monkeypatch.setattr(remembered, "MOST_FILES", 3)
    for _ in range(3):
        append("pipeline/demo/write.py")(repository)
        key(repository, memory)
    assert len([*memory.iterdir()]) == 3
    assert is_remembered(repository, memory)


def test_equal_bytes_count_by_the_form_of_their_file(repository: Path, memory: Path) -> None:
    """`1e3` is a text in YAML and a number in JSON."""
    files = [RepoFile("pipeline/numbers.yml"), RepoFile("pipeline/numbers.json")]
    for file in files:
        (repository / file.path).write_text('{"a": 1e3}')
    without = [KeyMaker(repository).repo_file(file) for file in files]
    assert without[0] != without[1]
    for _ in range(2):
        assert [KeyMaker(repository, memory=memory).repo_file(file) for file in files] == without
