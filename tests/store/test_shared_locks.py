"""File systems that keep locks to one machine are refused before anything runs."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from translations_assets.common.errors import StoreError
from translations_assets.store.shared_locks import check_locks, mount_of

ROOT = "22 1 8:1 / / rw,relatime - ext4 /dev/root rw"


def mounted(folder: Path, kind: str, options: str) -> Path:
    """A list of mounts, in which a folder is a file system of its own."""
    place = str(folder).replace(" ", "\\040")
    path = folder.parent / "mountinfo"
    lines = f"90 22 0:50 / {place} rw,relatime shared:1 - {kind} server:/x rw,{options}\n{ROOT}\n"
    path.write_bytes(os.fsencode(lines))
    return path


@pytest.fixture(params=["file server", "данные", "é\u00a0\u2028x", os.fsdecode(b"\xff")])
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder whose name has a space, or letters of other alphabets, or no encoding that is known."""
    made = tmp_path / str(request.param)
    made.mkdir()
    return made


def url_of(folder: Path) -> str:
    """The address of a store there."""
    return f"file://{folder}".replace(" ", "%20")


@pytest.mark.parametrize(
    ("kind", "options", "told"),
    [
        ("nfs", "vers=3,nolock,addr=10.0.0.1", "NFS is mounted with locks of its own on each machine"),
        ("nfs", "vers=3,local_lock=all", "NFS is mounted with locks of its own on each machine"),
        ("nfs4", "vers=4.1,local_lock=flock", "NFS is mounted with locks of its own on each machine"),
        ("lustre", "localflock", "Lustre is mounted with locks of its own"),
        ("lustre", "lazystatfs", "Lustre is mounted without locks"),
    ],
)
def test_a_mount_that_keeps_locks_to_one_machine_is_refused(
    folder: Path, kind: str, options: str, told: str
) -> None:
    with pytest.raises(StoreError, match=told) as caught:
        check_locks(url_of(folder / "store"), mounted(folder, kind, options))
    assert "or a store in a bucket" in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("nfs4", "vers=4.2,local_lock=none"),
        ("nfs", "local_lock=none"),
        ("lustre", "flock"),
        ("ext4", ""),
    ],
)
def test_a_mount_that_shares_locks_is_taken(folder: Path, kind: str, options: str) -> None:
    check_locks(url_of(folder / "store"), mounted(folder, kind, options))
    assert list(folder.iterdir()) == []


def test_the_innermost_mount_counts(folder: Path) -> None:
    mounts = mounted(folder, "lustre", "localflock")
    assert mount_of(folder / "deep" / "below", mounts).kind == "lustre"
    assert mount_of(folder.parent, mounts).kind == "ext4"


def test_a_file_system_that_refuses_locks_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(StoreError, match="refuses locks"):
        check_locks(url_of(folder))


def test_a_bucket_needs_no_locks() -> None:
    check_locks("gs://bucket/store")
