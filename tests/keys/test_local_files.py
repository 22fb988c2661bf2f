"""Digests of files of this machine: what is remembered, and for how long."""

import hashlib
import os
from pathlib import Path

import pytest

from translations_assets.common.errors import GraphError
from translations_assets.keys import local_files
from translations_assets.keys.local_files import FileDigests


def written(path: Path, text: str, age: float = 60) -> str:
    """Write a file that has not changed for so many seconds; its digest."""
    path.write_text(text)
    changed = path.stat().st_mtime_ns - int(age * 1e9)
    os.utime(path, ns=(changed, changed))
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read, in order."""
    found: list[str] = []
    read = local_files._read

    def reading(path: str) -> str:
        found.append(path)
        return read(path)

    monkeypatch.setattr(local_files, "_read", reading)
    return found


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path, reads: list[str]) -> None:
    file, memory = tmp_path / "a.en", tmp_path / "state" / "files.json"
    first = written(file, "one")
    for _ in range(2):
        assert FileDigests(memory).digest(str(file)) == first
    assert len(reads) == 1
    second = written(file, "two", age=30)
    assert FileDigests(memory).digest(str(file)) == second != first
    assert len(reads) == 2


def test_a_file_that_may_still_be_changing_is_not_remembered(tmp_path: Path, reads: list[str]) -> None:
    files = FileDigests(tmp_path / "files.json")
    written(tmp_path / "a.en", "one", age=0)
    for _ in range(2):
        files.digest(str(tmp_path / "a.en"))
    assert len(reads) == 2


def test_of_a_file_that_is_gone_the_last_digest_counts(tmp_path: Path) -> None:
    file, memory = tmp_path / "a.en", tmp_path / "files.json"
    digest = written(file, "one")
    FileDigests(memory).digest(str(file))
    file.unlink()
    assert FileDigests(memory).digest(str(file)) == digest
    assert FileDigests(memory).is_known(str(file))
    assert not FileDigests().is_known(str(file))
    with pytest.raises(GraphError, match="names the file .*a.en, which is not there"):
        FileDigests().digest(str(file))


@pytest.mark.parametrize("memory", ["", "[]", "{", '{"a": 1}', '{"a": [1, 2, 3]}'])
def test_a_damaged_memory_counts_as_none(tmp_path: Path, memory: str) -> None:
    (tmp_path / "files.json").write_text(memory)
    assert FileDigests(tmp_path / "files.json").digest(__file__)
