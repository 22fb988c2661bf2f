"""Small files that stand there whole: the old text or the new one."""

import os
import stat
from pathlib import Path

import pytest

from translations_assets.common.whole_file import write_whole


def test_a_new_file_has_the_modes_of_all(tmp_path: Path) -> None:
    write_whole(tmp_path / "new", "é\r\n")
    (tmp_path / "other").touch()
    assert (tmp_path / "new").read_bytes() == "é\r\n".encode()
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_an_earlier_one_keeps_its_mode_and_readers_have_their_own(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with path.open() as reader:
        write_whole(link, "new")
        assert reader.read() == "old"
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_cannot_be_written_leaves_the_earlier_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "x" * 100_000 + "\ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]
