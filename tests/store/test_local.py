"""Tests of a store in a folder: power cuts, killed writers, other processes."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.values import KEY, OTHER_KEY, files, manifest, ref
from translations_assets.common.errors import DamagedError, StoreError
from translations_assets.records.encoding import seal
from translations_assets.records.manifest import Blob
from translations_assets.records.run import RunRecord
from translations_assets.store.local import LocalStore
from translations_assets.store.open import open_store


def blob_path(store: LocalStore, blob: Blob) -> Path:
    """Path of a blob in the layout."""
    return store.root / "blobs" / blob.digest[:2] / blob.digest


def manifest_path(store: LocalStore, generation: int = 1) -> Path:
    """Path of the manifest of `KEY` in the layout."""
    return store.root / "steps" / KEY[:2] / KEY / f"{generation}.json"


def overwrite(path: Path, data: bytes) -> None:
    """Change a file that the store made read-only."""
    path.chmod(0o644)
    path.write_bytes(data)


def test_the_layout_is_the_documented_one(local: LocalStore, tmp_path: Path) -> None:
    blob = local.add_bytes(b"x")
    local.commit(manifest({"out": blob}))
    local.append_log(KEY, 1, 1, 0, b"log")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "model.npz").write_bytes(b"m")
    local.add_checkpoint(KEY, 1, "000100", tmp_path / "set")
    local.add_ref(ref("run-a", 1.0))
    local.write_run("run-a", RunRecord())
    local.add_config("en-ru.x", "a: 1\n")
    assert files(local) == {
        f"blobs/{blob.digest[:2]}/{blob.digest}",
        f"steps/ab/{KEY}/1.json",
        f"logs/{KEY}/1.1/0",
        f"checkpoints/{KEY}/1/000100/files/model.npz",
        f"checkpoints/{KEY}/1/000100/set.json",
        "refs/ann%2Fmain/en-ru.big-vocab/merge_corpus/run-a.json",
        "runs/run-a.json",
        "configs/en-ru.x.yml",
        "locks/blobs",
        "store.json",
    }


def test_the_lock_file_of_a_killed_owner_goes_when_its_step_is_finished(local: LocalStore) -> None:
    with local.owners.lock(OTHER_KEY, 1):
        left = local.root / "locks" / f"{KEY}.1"
        left.touch()
        local.owners.disown([(KEY, 1), (OTHER_KEY, 1)])
        assert not left.exists()
        assert local.owners.is_owned(OTHER_KEY, 1)


def test_blobs_and_manifests_are_read_only(local: LocalStore) -> None:
    blob = local.add_bytes(b"x")
    local.commit(manifest({"out": blob}))
    for path in (blob_path(local, blob), manifest_path(local)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_a_file_of_a_work_folder_is_handed_over_without_a_copy(local: LocalStore) -> None:
    file = local.root / "work" / "ab12" / "out" / "corpus"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"much text")
    inode = file.stat().st_ino
    blob = local.add_blob(file)
    assert blob_path(local, blob).stat().st_ino == inode
    assert stat.S_IMODE(blob_path(local, blob).stat().st_mode) == 0o444


def test_a_truncated_blob_is_never_used_and_heals(local: LocalStore, tmp_path: Path) -> None:
    blob = local.add_bytes(b"a whole text")
    overwrite(blob_path(local, blob), b"a who")
    assert not local.has_blob(blob)
    with pytest.raises(DamagedError, match=blob.digest):
        local.place_blob(blob, tmp_path / "text")
    assert not (tmp_path / "text").exists()
    local.add_bytes(b"a whole text")
    assert local.read_blob(blob) == b"a whole text"


def test_a_truncated_blob_is_replaced_by_whoever_has_the_contents(local: LocalStore) -> None:
    blob = local.add_bytes(b"a whole text")
    overwrite(blob_path(local, blob), b"")
    local.add_bytes(b"a whole text")
    assert local.read_blob(blob) == b"a whole text"
    assert [path.read_bytes() for path in (local.root / "quarantine").glob(f"*{blob.digest}*[0-9]")] == [b""]


def test_flipped_bytes_are_replaced_by_whoever_has_the_contents(local: LocalStore) -> None:
    """The size alone does not tell."""
    blob = local.add_bytes(b"a whole text")
    overwrite(blob_path(local, blob), b"a whole tEXT")
    local.add_bytes(b"a whole text")
    assert local.read_blob(blob) == b"a whole text"


def test_flipped_bytes_are_found_when_placed_or_read(local: LocalStore, tmp_path: Path) -> None:
    for use in (local.read_blob, lambda blob: local.place_blob(blob, tmp_path / "text")):
        blob = local.add_bytes(b"a whole text")
        overwrite(blob_path(local, blob), b"a whole tEXT")
        with pytest.raises(DamagedError, match="quarantine"):
            use(blob)
        assert not local.has_blob(blob)
    assert not (tmp_path / "text").exists()


def test_quarantine_keeps_the_reason(local: LocalStore) -> None:
    blob = local.add_bytes(b"text")
    local.quarantine(blob, "the disk said so")
    (reason,) = (local.root / "quarantine").glob("*.reason.json")
    assert "the disk said so" in reason.read_text()
    assert blob.digest in reason.read_text()


def test_files_are_put_aside_after_the_folder_of_damaged_files_was_removed(local: LocalStore) -> None:
    for _ in range(2):
        blob = local.add_bytes(b"text")
        local.quarantine(blob, "the disk said so")
        assert not local.has_blob(blob)
        shutil.rmtree(local.root / "quarantine")


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_no_damaged_manifest_is_believed(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    local = LocalStore(tmp_path_factory.mktemp("store"))
    made = local.commit(manifest({"out": local.add_bytes(b"x")}))
    whole = manifest_path(local).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 2))
    torn = data.draw(
        st.sampled_from(
            [whole[:at], whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :], b"\0" * len(whole)]
        )
    )
    overwrite(manifest_path(local), torn)
    assert local.latest(KEY) is None
    assert not manifest_path(local).exists(), "it was put aside"
    assert local.commit(made) == made, "the name is free again"


def test_a_damaged_generation_falls_back_to_the_one_before(
    local: LocalStore, caplog: pytest.LogCaptureFixture
) -> None:
    first = local.commit(manifest({"out": local.add_bytes(b"x")}))
    local.commit(manifest({"out": local.add_bytes(b"y")}, generation=2))
    overwrite(manifest_path(local, 2), b'{"key": ')
    assert local.latest(KEY) == first
    assert "2.json is damaged" in caplog.text


def test_a_manifest_under_another_steps_name_is_not_believed(local: LocalStore) -> None:
    local.commit(manifest({"out": local.add_bytes(b"x")}))
    manifest_path(local, 2).write_bytes(manifest_path(local, 1).read_bytes())
    assert local.generation(KEY, 2) is None
    assert local.latest(KEY) == local.generation(KEY, 1)
    assert not manifest_path(local, 2).exists(), "it was put aside"


def test_a_whole_manifest_with_fields_of_another_version_is_no_damage(local: LocalStore) -> None:
    made, path = local.commit(manifest({"out": local.add_bytes(b"x")})), manifest_path(local)
    overwrite(path, seal({**made.to_dict(), "colour": "red"}))
    with pytest.raises(StoreError, match="written by a newer version"):
        local.latest(KEY)
    assert path.exists()
    overwrite(path, seal(made.to_dict()))  # the first manifests did not name their format
    assert local.latest(KEY) == made


def test_damaged_refs_and_runs_are_left_out(local: LocalStore) -> None:
    local.add_ref(ref("run-a", 1.0))
    local.add_ref(ref("run-b", 2.0))
    overwrite(local.root / "refs/ann%2Fmain/en-ru.big-vocab/merge_corpus/run-b.json", b"{}")
    local.write_run("run-a", RunRecord())
    overwrite(local.root / "runs/run-a.json", b"")
    assert [found.run for found in local.refs("ann/main", "en-ru.big-vocab", "merge_corpus")] == ["run-a"]
    assert local.read_run("run-a") is None


def test_a_checkpoint_set_that_is_not_whole_is_passed_over(local: LocalStore, tmp_path: Path) -> None:
    for name in ("000100", "000200", "000300", "000400"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.npz").write_text(name)
    stored = local.root / "checkpoints" / KEY / "1"
    for name in ("000100", "000200"):
        local.add_checkpoint(KEY, 1, name, tmp_path / name)
    (stored / "000300" / "files").mkdir(parents=True)
    (stored / "000300" / "files" / "model.npz").write_text("its writer was killed")
    (tmp_path / "placed").mkdir()
    assert local.place_checkpoints(KEY, 1, tmp_path / "placed") == ["000100", "000200"]
    (stored / "000200" / "files" / "model.npz").write_text("flipp")
    (tmp_path / "again").mkdir()
    assert local.place_checkpoints(KEY, 1, tmp_path / "again") == ["000100"]
    assert not (tmp_path / "again" / "000200").exists()
    local.add_checkpoint(KEY, 1, "000300", tmp_path / "000300")
    assert (stored / "000300" / "files" / "model.npz").read_text() == "000300"


def test_sets_of_killed_writers_push_out_no_whole_one(local: LocalStore, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "model.npz").write_text("model")
    local.add_checkpoint(KEY, 1, "000100", folder)
    for name in ("000200", "000300"):
        torn = local.root / "checkpoints" / KEY / "1" / name / "files"
        torn.mkdir(parents=True)
        (torn / "model.npz").write_text("mod")
    local.add_checkpoint(KEY, 1, "000150", folder)
    assert local.place_checkpoints(KEY, 1, tmp_path) == ["000100", "000150"]


def test_temporary_files_of_killed_writers_are_swept_and_those_of_others_left(local: LocalStore) -> None:
    local.add_bytes(b"makes the folders")
    (local.root / "tmp" / "left-over").write_bytes(b"half")
    (local.root / "tmp" / "in-use").write_bytes(b"being written")
    holder = holding_process(local.root / "tmp" / "in-use")
    try:
        LocalStore(local.root).add_bytes(b"another process begins")
        assert {path.name for path in (local.root / "tmp").iterdir()} == {"in-use"}
    finally:
        holder.kill()
        holder.wait()
    LocalStore(local.root).add_bytes(b"and another")
    assert list((local.root / "tmp").iterdir()) == []


def test_a_lock_is_freed_when_its_owner_is_killed(local: LocalStore) -> None:
    (local.root / "locks").mkdir(parents=True)
    holder = holding_process(local.root / "locks" / f"{KEY}.1")
    with local.owners.lock(KEY, 1) as mine:
        assert not mine
    holder.kill()
    holder.wait()
    with local.owners.lock(KEY, 1) as mine:
        assert mine
    assert list((local.root / "locks").iterdir()) == [], "lock files do not pile up"


def test_locks_of_killed_owners_are_swept_and_those_of_others_left(local: LocalStore) -> None:
    local.add_bytes(b"makes the folders")
    (local.root / "locks").mkdir(exist_ok=True)
    (local.root / "locks" / f"{KEY}.1").touch()
    holder = holding_process(local.root / "locks" / f"{KEY}.2")
    try:
        LocalStore(local.root).add_bytes(b"another process begins")
        assert f"{KEY}.1" not in {path.name for path in (local.root / "locks").iterdir()}
        assert f"{KEY}.2" in {path.name for path in (local.root / "locks").iterdir()}
    finally:
        holder.kill()
        holder.wait()


def holding_process(path: Path) -> subprocess.Popen[str]:
    """Another process that holds a lock file, until it is killed or 60 s have passed."""
    program = f"""
import pathlib, time
from translations_assets.store.locks import acquire
print(acquire(pathlib.Path({str(path)!r})), flush=True)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline().strip() != "None"
    return process


def test_processes_that_write_the_same_all_succeed(local: LocalStore) -> None:
    program = f"""
import pathlib, sys
from tests.store.values import manifest
from translations_assets.store.local import LocalStore
store = LocalStore(pathlib.Path({str(local.root)!r}))
for number in range(20):
    blob = store.add_bytes(b"contents %d" % number)
    store.commit(manifest({{"out": blob}}, key=f"{{number:064x}}", label=sys.argv[1]))
"""
    writers = [subprocess.Popen([sys.executable, "-c", program, f"writer-{n}"]) for n in range(3)]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    for number in range(20):
        latest = local.latest(f"{number:064x}")
        assert latest is not None
        assert local.read_blob(latest.outputs["out"]) == b"contents %d" % number
    assert list((local.root / "tmp").iterdir()) == []


def test_a_blob_that_is_found_is_touched_so_that_it_is_not_collected(local: LocalStore) -> None:
    blob = local.add_bytes(b"old")
    os.utime(blob_path(local, blob), (1, 1))
    local.add_bytes(b"old")
    assert blob_path(local, blob).stat().st_mtime > time.time() - 60


def test_what_a_result_was_made_by_is_as_fresh_as_the_result(local: LocalStore) -> None:
    """Its code and config may be as old as the project: they are in use from now on."""
    bundle, config = local.add_bytes(b"code"), local.add_bytes(b"config")
    for blob in (bundle, config):
        os.utime(blob_path(local, blob), (1, 1))
    made = manifest({"out": local.add_bytes(b"x")})
    local.commit(replace(made, bundle=bundle, provenance=replace(made.provenance, config=config)))
    assert min(blob_path(local, blob).stat().st_mtime for blob in (bundle, config)) > time.time() - 60


def test_a_manifest_is_committed_after_its_blobs_are_durable(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of fsync and link on the way to a finished step."""
    calls: list[str] = []
    sync, link = os.fsync, os.link

    def traced_sync(descriptor: int) -> None:
        calls.append("sync " + os.readlink(f"/proc/self/fd/{descriptor}").removeprefix(f"{local.root}/"))
        sync(descriptor)

    def traced_link(source: Path, target: Path) -> None:
        calls.append("link " + target.relative_to(local.root).as_posix())
        link(source, target)

    monkeypatch.setattr(os, "fsync", traced_sync)
    monkeypatch.setattr(os, "link", traced_link)
    blob = local.add_bytes(b"x")
    local.commit(manifest({"out": blob}))
    calls = ["sync tmp/…" if call.startswith("sync tmp/") else call for call in calls]
    shard = f"blobs/{blob.digest[:2]}"
    linked, committed = calls.index(f"link {shard}/{blob.digest}"), calls.index(f"link steps/ab/{KEY}/1.json")
    assert "sync tmp/…" in calls[:linked], "contents are durable before they have a name"
    assert f"sync {shard}" in calls[linked:committed], "the blob's name is durable before the manifest"
    assert "sync blobs" in calls[:committed]
    assert "sync tmp/…" in calls[linked:committed], "the manifest too is durable before it has a name"
    assert f"sync steps/ab/{KEY}" in calls[committed:]


def test_opening_a_store(tmp_path: Path) -> None:
    made = LocalStore(tmp_path / "a store")
    blob = made.add_bytes(b"x")
    assert "%20" in made.url
    for url in (made.url, str(made.root)):
        assert open_store(url).has_blob(blob)
    with pytest.raises(StoreError, match="no store that can be opened"):
        open_store("ftp://bucket/store")


def test_opening_writes_nothing(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "store"))
    assert store.latest(KEY) is None
    assert not (tmp_path / "store").exists()


def test_a_thousand_lookups_take_no_time(local: LocalStore) -> None:
    """The bar is 100 ms on an idle machine; the test leaves room for a busy one."""
    blob = local.add_bytes(b"x")
    keys = [f"{number:064x}" for number in range(100)]
    for key in keys:
        local.commit(manifest({"out": blob}, key=key))
    assert all(local.latest(key) for key in keys)
    start = time.process_time()
    for _ in range(10):
        assert all(local.latest(key) for key in keys)
    assert time.process_time() - start < 2
