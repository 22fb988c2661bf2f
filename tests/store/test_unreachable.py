"""A local store whose disk goes away for a while: nothing looks empty, nothing is written in its place."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from tests.store.values import KEY, manifest
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.records.run import RunRecord
from translations_assets.store.local import LocalStore


def unmount(store: LocalStore, *, leave_folder: bool = True) -> Path:
    """Take the store's contents away; where its disk is mounted an empty folder is left."""
    away = store.root.with_name("away")
    store.root.rename(away)
    if leave_folder:
        store.root.mkdir()
    return away


def mount(store: LocalStore, away: Path) -> None:
    """Bring the contents back; fails when something was written into the empty folder."""
    if store.root.exists():
        store.root.rmdir()
    away.rename(store.root)


@pytest.mark.parametrize("leave_folder", [True, False])
def test_a_store_that_was_there_is_not_taken_for_an_empty_one(
    local: LocalStore, tmp_path: Path, leave_folder: bool
) -> None:
    blob = local.add_bytes(b"text")
    made = local.commit(manifest({"a": blob}))
    away = unmount(local, leave_folder=leave_folder)
    (tmp_path / "file").write_text("more")
    asked: dict[str, Any] = {
        "latest": lambda: local.latest(KEY),
        "generation": lambda: local.generation(KEY, 1),
        "manifests": lambda: list(local.manifests()),
        "has_blob": lambda: local.has_blob(blob),
        "read_blob": lambda: local.read_blob(blob),
        "place_blob": lambda: local.place_blob(blob, tmp_path / "placed"),
        "add_bytes": lambda: local.add_bytes(b"other"),
        "add_blob": lambda: local.add_blob(tmp_path / "file"),
        "commit": lambda: local.commit(made),
        "attempts": lambda: local.attempts(KEY, 1),
        "refs": lambda: local.refs("ann", "en-ru", "train_vocab"),
        "runs": lambda: local.runs(),
        "write_run": lambda: local.write_run("run-b", RunRecord()),
        "waiters": lambda: local.owners.waiters(KEY, 1),
        "place_checkpoints": lambda: local.place_checkpoints(KEY, 1, tmp_path / "sets"),
        "lock": lambda: local.owners.lock(KEY, 1).__enter__(),
        "is_owned": lambda: local.owners.is_owned(KEY, 1),
    }
    for name, ask in asked.items():
        with pytest.raises(StoreUnreachable, match="Is the disk mounted"):
            pytest.fail(f"{name} gave {ask()!r}")
    mount(local, away)
    assert local.latest(KEY) == made
    assert local.read_blob(blob) == b"text"


def test_a_process_that_finds_an_empty_folder_begins_a_store(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    store = LocalStore(tmp_path / "store")
    assert store.latest(KEY) is None
    store.add_bytes(b"text")
    assert (tmp_path / "store" / "store.json").read_text() == '{"format": 1}\n'


def test_an_older_store_without_the_mark_is_used_and_gets_it(local: LocalStore) -> None:
    blob = local.add_bytes(b"text")
    (local.root / "store.json").unlink()
    assert local.read_blob(blob) == b"text", "the mark alone is missing: the store is there"
    other = LocalStore(local.root)
    assert other.read_blob(blob) == b"text"
    other.add_bytes(b"more")
    assert (local.root / "store.json").exists()


@pytest.mark.parametrize(
    "number", [errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN]
)
def test_errors_of_a_disk_or_network_that_is_away_are_worth_waiting_for(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "listdir", fail)
    with pytest.raises(StoreUnreachable, match=os.strerror(number)):
        local.config_names()


def test_a_full_disk_is_no_store_that_is_away(local: LocalStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(StoreError) as caught:
        local.add_bytes(b"text")
    assert not isinstance(caught.value, StoreUnreachable)
