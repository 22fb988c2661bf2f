"""Tests of the output folder that is whole or empty."""

from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.staging import staged


def test_files_appear_when_the_block_ends(tmp_path: Path) -> None:
    with staged(tmp_path / "out") as (folder, scratch):
        (folder / "a.txt").write_text("a")
        (scratch / "b.txt").write_text("b")
        assert not (tmp_path / "out" / "a.txt").exists()
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a.txt"]


def test_a_failure_leaves_nothing(tmp_path: Path) -> None:
    def write_and_fail() -> None:
        with staged(tmp_path / "out") as (folder, _):
            (folder / "a.txt").write_text("a")
            raise InputError("bad line")

    with pytest.raises(InputError, match="bad line"):
        write_and_fail()
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(InputError, match="not empty"), staged(tmp_path):
        pass
    assert (tmp_path / "mine.txt").read_text() == "keep me"
