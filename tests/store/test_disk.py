"""A store on a disk that is full or forbidden, or whose path is no folder: told, nothing is half written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.values import KEY, files
from translations_assets.common.errors import StoreError
from translations_assets.store.local import LocalStore
from translations_assets.store.open import open_store


def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.add_bytes(b"earlier")
    before = files(local)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=rf"{local.root}.*No space left.*Free some space"):
        local.add_bytes(b"does not fit")
    monkeypatch.undo()
    assert files(local) == before
    assert local.read_blob(local.add_bytes(b"does not fit")) == b"does not fit"


def test_a_write_that_is_cut_short_leaves_nothing_half_written(tmp_path: Path) -> None:
    """The kernel itself refuses to write past a limit, in the middle of a large blob."""
    store = LocalStore(tmp_path / "store")
    store.add_bytes(b"earlier")
    before = files(store)
    program = f"""
import resource, signal
from pathlib import Path
from translations_assets.store.local import LocalStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
LocalStore(Path({str(store.root)!r})).add_bytes(bytes(5 << 20))
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert "StoreError" in ended.stderr
    assert "File too large" in ended.stderr
    assert files(store) == before


def test_a_store_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "store"
    file.write_text("not a folder")
    with pytest.raises(StoreError, match="must be a folder"):
        open_store(str(file))
    with pytest.raises(StoreError, match="choose another path"):
        LocalStore(file).add_bytes(b"x")
    assert file.read_text() == "not a folder"


def test_a_store_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match=r"Not a directory\. A file is where it needs a folder: choose"):
        LocalStore(tmp_path / "file" / "store").latest(KEY)


def test_a_forbidden_folder_is_told(local: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permissions do not bind root, so the refusal is the system call's."""

    def forbidden(path: object, *_: object, **__: object) -> None:
        raise PermissionError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(StoreError, match=r"Read-only file system.*owner and mode"):
        local.add_bytes(b"x")


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind root")
def test_a_read_only_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o555)
    with pytest.raises(StoreError, match="owner and mode"):
        LocalStore(tmp_path / "store").add_bytes(b"x")
