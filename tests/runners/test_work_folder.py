"""Work folders: fresh, removed whatever the script did there, swept after a killed worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runners.scripts import alive, tar
from translations_assets.common.errors import DamagedError
from translations_assets.runners.work_folder import sweep, unpack, work_folder

LARGEST_BLOCK = 64 << 10  # bytes, of a file system


def test_a_work_folder_is_fresh_and_removed(tmp_path: Path) -> None:
    with work_folder(tmp_path / "work") as one, work_folder(tmp_path / "work") as other:
        assert one.path != other.path
        assert one.inputs.is_dir()
        assert not one.outputs.exists(), "the script makes it"
    assert list((tmp_path / "work").iterdir()) == []


def test_what_the_script_made_read_only_is_removed(tmp_path: Path) -> None:
    with work_folder(tmp_path / "work") as folder:
        locked = folder.temporary / "a" / "b"
        locked.mkdir(parents=True)
        (locked / "file").write_text("x")
        (locked / "link").symlink_to("/etc")
        (locked / "file").chmod(0o000)
        locked.chmod(0o000)
        locked.parent.chmod(0o500)
    assert list((tmp_path / "work").iterdir()) == []
    assert os.path.isdir("/etc")


def test_the_size_counts_what_the_script_wrote(tmp_path: Path) -> None:
    with work_folder(tmp_path / "work") as folder:
        (folder.inputs / "input").write_bytes(bytes(5000))
        assert folder.size() == 0
        folder.outputs.mkdir()
        (folder.outputs / "a").write_bytes(bytes(1_000_000))
        (folder.temporary / "b").write_bytes(bytes(200_000))
        assert folder.size() == pytest.approx(1_200_000, abs=2 * LARGEST_BLOCK)


def test_what_has_several_names_counts_once_and_holes_do_not(tmp_path: Path) -> None:
    """Sets of checkpoints have the files of earlier ones."""
    with work_folder(tmp_path / "work") as folder:
        part = folder.temporary / "part"
        part.write_bytes(bytes(1_000_000))
        for number in range(25):
            (folder.checkpoints / f"set-{number}").mkdir()
            os.link(part, folder.checkpoints / f"set-{number}" / "part")
        with (folder.temporary / "hole").open("wb") as file:
            file.truncate(1 << 30)
        assert folder.size() == pytest.approx(1_000_000, abs=2 * LARGEST_BLOCK)


def test_a_sweep_takes_abandoned_folders_and_only_those(tmp_path: Path) -> None:
    root = tmp_path / "work"
    with work_folder(root) as mine:
        (root / "0000dead" / "out").mkdir(parents=True)
        (root / "0000dead.lock").touch()
        (root / "00000a1d").mkdir()
        sweep(root)
        assert sorted(path.name for path in root.iterdir()) == [mine.path.name, f"{mine.path.name}.lock"]
        assert mine.inputs.is_dir()
    sweep(tmp_path / "absent")


def test_a_sweep_ends_the_processes_of_an_abandoned_folder_and_no_others(tmp_path: Path) -> None:
    root = tmp_path / "work"
    (root / "0000dead" / "tmp").mkdir(parents=True)
    (root / "000dead2" / "tmp").mkdir(parents=True)
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    ours = subprocess.Popen(sleep, env={"TMPDIR": str(root / "0000dead" / "tmp")}, start_new_session=True)
    others = subprocess.Popen(sleep, env={"TMPDIR": str(root / "0000dead" / "tmp2")})
    try:
        sweep(root)
        assert not alive(ours.pid)
        assert alive(others.pid)
    finally:
        others.kill()
        others.wait()
        ours.wait()


@pytest.mark.parametrize("name", ["../outside.py", "/outside.py", "code/../../outside.py"])
def test_a_bundle_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "bundle.tar").write_bytes(tar({name: "x = 1\n"}))
    (tmp_path / "code").mkdir()
    with pytest.raises(DamagedError, match=r"bundle of split-en-ru .*only plain files .* Start a new run"):
        unpack(tmp_path / "bundle.tar", tmp_path / "code", "of split-en-ru")
    assert list((tmp_path / "code").iterdir()) == []
    assert not (tmp_path / "outside.py").exists()


@pytest.mark.parametrize("place", ["link", "folder", "pipe"])
def test_a_sweep_leaves_what_stands_in_the_place_of_a_lock(tmp_path: Path, place: str) -> None:
    """And takes the other abandoned folders."""
    for name in ("0123abcd", "4567cdef"):
        (tmp_path / "work" / name).mkdir(parents=True)
    lock = tmp_path / "work" / "0123abcd.lock"
    if place == "link":
        lock.symlink_to("/dev/zero")
    elif place == "folder":
        lock.mkdir()
    else:
        os.mkfifo(lock)
    sweep(tmp_path / "work")
    assert not (tmp_path / "work" / "4567cdef").exists()
    assert (tmp_path / "work" / "0123abcd").exists() == (place != "pipe")
