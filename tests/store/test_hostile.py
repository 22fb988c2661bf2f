"""Whoever may write a store gets no further than the store: not by names, not by records, not by links."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.store.test_contract import checkpoint_set
from tests.store.values import KEY, finish, publish
from translations_assets.common.errors import DamagedError, StoreError
from translations_assets.records.encoding import seal, unseal
from translations_assets.records.manifest import Publication
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gc import collect
from translations_assets.store.local import LocalStore
from translations_assets.store.verify import verify

ANY_WAY = ("../../outside", "/nowhere", "..", "a/../../outside", "", "a\0b", "x" * 300)
NONSENSE: tuple[Any, ...] = (
    None,
    5,
    -1,
    True,
    1e400,
    "x",
    "../x",
    [],
    ["x"],
    {},
    {"x": 5},
    {"../x": {}},
    [[5, "x"]],
)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of somebody's, which nobody may touch."""
    folder = tmp_path / "outside"
    (folder / "1" / "files").mkdir(parents=True)
    (folder / "1" / "files" / "thesis.txt").write_text("years of work")
    (folder / "thesis.txt").write_text("years of work")
    (folder / "thesis.txt").chmod(0o640)
    return folder


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything about a folder's files."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def kept_set(store: LocalStore | BucketStore, folder: Path) -> Any:
    """The path of a whole set in the store, the newer one of two."""
    for name in ("000100", "000200"):
        store.add_checkpoint(KEY, 1, name, checkpoint_set(folder / name, name))
    return next(path for _, _, path in store.checkpoint_sets() if path.name == "000200")


@pytest.mark.parametrize("name", ANY_WAY)
def test_a_sets_files_never_leave_its_folder(
    name: str, local: LocalStore, tmp_path: Path, outside: Path
) -> None:
    stored, before = kept_set(local, tmp_path / "sets"), state(outside)
    value = unseal((stored / "set.json").read_bytes())
    value["files"] = {name: value["files"]["model.npz"]}
    (stored / "set.json").chmod(0o644)
    (stored / "set.json").write_bytes(seal(value))
    (tmp_path / "placed").mkdir()
    assert local.place_checkpoints(KEY, 1, tmp_path / "placed") == ["000100"]
    assert [path.name for path in (tmp_path / "placed").iterdir()] == ["000100"]
    assert state(outside) == before
    assert not stored.exists(), "it is put aside"


@pytest.mark.parametrize(
    "name", ["..%2F..%2Foutside", "%2E%2E", "%2E", "%2Fnowhere", "a%2F..%2F..%2Foutside", "%00"]
)
def test_a_sets_name_never_leads_out(name: str, local: LocalStore, tmp_path: Path, outside: Path) -> None:
    stored, before = kept_set(local, tmp_path / "sets"), state(outside)
    stored.rename(stored.with_name(name))
    (tmp_path / "work" / "placed").mkdir(parents=True)
    assert local.place_checkpoints(KEY, 1, tmp_path / "work" / "placed") == ["000100"]
    assert sorted(path.name for path in (tmp_path / "work").rglob("*"))[0] == "000100"
    assert state(outside) == before
    problems = {problem.path for problem in verify(local).problems}
    assert not {path for path in problems if "000100" in path}


@pytest.mark.parametrize("name", ["..%2F..%2Foutside", "%2E%2E", "%2E", "%2Fnowhere"])
def test_a_set_of_a_bucket_never_leads_out(
    name: str, bucket: BucketStore, tmp_path: Path, outside: Path
) -> None:
    with bucket.owners.lock(KEY, 1):
        stored = kept_set(bucket, tmp_path / "sets")
    before, objects = state(outside), bucket.files.objects
    for found in list(objects.walk(f"{stored}/")):
        objects.copy(found.name, found.name.replace("000200", name, 1))
        objects.delete(found.name)
    (tmp_path / "work" / "placed").mkdir(parents=True)
    assert bucket.place_checkpoints(KEY, 1, tmp_path / "work" / "placed") == ["000100"]
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["placed"]
    assert state(outside) == before


@pytest.mark.parametrize("name", ANY_WAY)
def test_a_buckets_files_of_a_set_never_leave_it(
    name: str, bucket: BucketStore, tmp_path: Path, outside: Path
) -> None:
    with bucket.owners.lock(KEY, 1):
        stored = kept_set(bucket, tmp_path / "sets")
    before, objects = state(outside), bucket.files.objects
    manifest = bucket.files.read(stored / "set.json")
    assert manifest
    value = unseal(manifest)
    value["files"] = {name: value["files"]["model.npz"]}
    objects.write(f"{stored}/set.json", seal(value))
    problem = verify(bucket).problems[0]
    assert problem.owners == []
    assert problem.path == str(stored)
    objects.write(f"{stored}/set.json", seal(value))
    (tmp_path / "placed").mkdir()
    assert bucket.place_checkpoints(KEY, 1, tmp_path / "placed") == ["000100"]
    assert [path.name for path in (tmp_path / "placed").iterdir()] == ["000100"]
    assert state(outside) == before


def use_everything(store: LocalStore, folder: Path) -> list[str]:
    """Whatever a run, a resumed training and the upkeep do with a store; the reasons of what is refused."""

    def make() -> None:
        publish(store, "run-1", 1.0, finish(store, "merge-corpus", {"corpus": b"text"}))

    def log() -> None:
        store.append_log(KEY, 1, 1, 0, b"line\n")

    def add() -> None:
        store.add_checkpoint(KEY, 1, "000300", checkpoint_set(folder / "new", "c"))

    def place() -> None:
        (folder / "placed").mkdir()
        store.place_checkpoints(KEY, 1, folder / "placed")

    def clear() -> None:
        collect(store, Rules(keep_days=0, keep_refs=0, grace_days=0), delete=True)

    uses: tuple[Callable[[], object], ...] = (
        make,
        log,
        add,
        place,
        lambda: verify(store),
        lambda: store.write_run("run-1", RunRecord(ended=1.0)),
        clear,
        lambda: store.drop_checkpoints(KEY, 1),
        lambda: verify(store),
    )
    refused: list[str] = []
    for use in uses:
        try:
            use()
        except StoreError as error:
            refused.append(str(error))
    return refused


@pytest.mark.parametrize(
    "link",
    [
        *("checkpoints", f"checkpoints/{KEY}", f"checkpoints/{KEY}/1", f"checkpoints/{KEY}/1/000300"),
        *(
            "logs",
            f"logs/{KEY}",
            f"logs/{KEY}/1.1",
            "quarantine",
            "refs",
            "runs",
            "steps",
            "retired",
            "blobs/ab",
        ),
    ],
)
def test_nothing_behind_a_link_is_touched(
    link: str, local: LocalStore, tmp_path: Path, outside: Path
) -> None:
    local.add_bytes(b"makes the store")
    before, path = state(outside), local.root / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(outside, target_is_directory=True)
    refused = use_everything(local, tmp_path / "mine")
    assert all("symbolic link" in reason for reason in refused), refused
    assert state(outside) == before


def test_verify_names_links(local: LocalStore, outside: Path) -> None:
    made = finish(local, "merge-corpus", {"corpus": b"text"})
    (local.root / "logs").symlink_to(outside, target_is_directory=True)
    path = local.blob_file(made.outputs["corpus"].digest)
    path.unlink()
    path.symlink_to(outside / "thesis.txt")
    before = state(outside)
    problems = {(problem.kind, problem.path) for problem in verify(local).problems}
    assert ("strange", "logs") in problems
    assert ("damaged", path.relative_to(local.root).as_posix()) in problems
    assert state(outside) == before


def test_placing_contents_that_are_a_link_changes_no_mode(
    local: LocalStore, tmp_path: Path, outside: Path
) -> None:
    theirs = outside / "thesis.txt"
    blob = local.add_bytes(theirs.read_bytes())
    path = local.blob_file(blob.digest)
    path.unlink()
    path.symlink_to(theirs)
    with pytest.raises(DamagedError):
        local.place_blob(blob, tmp_path / "placed")
    assert stat.S_IMODE(theirs.stat().st_mode) == 0o640
    assert not os.path.lexists(tmp_path / "placed")
    assert not os.path.lexists(path), "it is put aside"


def test_a_pipe_in_the_store_makes_nobody_wait(local: LocalStore, tmp_path: Path) -> None:
    blob = local.add_bytes(b"text")
    path = local.blob_file(blob.digest)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(DamagedError):
        local.place_blob(blob, tmp_path / "placed")
    assert local.add_bytes(b"text") == blob
    assert local.read_blob(blob) == b"text"


FIELDS = (
    *("key", "generation", "outputs", "label", "reason", "bundle", "provenance", "attempt", "host"),
    *("started", "ended", "usage", "outputs.corpus", "outputs.corpus.digest", "outputs.corpus.size"),
    *("provenance.stage", "provenance.config", "provenance.files", "provenance.inputs", "provenance.worker"),
    *("provenance.outputs", "provenance.repeatable"),
    *("provenance.args", "provenance.run", "usage.seconds", "bundle.digest"),
)


@pytest.mark.parametrize("field", FIELDS)
def test_a_tampered_manifest_is_a_named_damage(field: str, local: LocalStore) -> None:
    """Whatever a sealed manifest says, reading it, verifying and collecting end in words."""
    for number, wrong in enumerate(NONSENSE):
        if field == "usage" and wrong in ({"x": 5}, {"../x": {}}):
            continue  # a field that a newer version may write
        made = finish(local, f"merge-{number}", {"corpus": b"text %d" % number})
        path = local.manifest_file(made.key, 1)
        value = unseal(path.read_bytes())
        *parents, last = field.split(".")
        inner = value
        for name in parents:
            inner = inner[name]
        inner[last] = wrong
        path.chmod(0o644)
        path.write_bytes(seal(value))
        found = local.latest(made.key)
        if found is None:
            assert made.key in local.damaged()
        else:
            assert not any(".." in name for name in found.outputs)
            assert json.dumps(found.to_dict())
    verify(local)
    collect(local, Rules(), delete=False)


def test_an_output_named_by_a_path_outside_is_damage(local: LocalStore) -> None:
    made = finish(local, "merge", {"corpus": b"text"})
    path = local.manifest_file(made.key, 1)
    value = unseal(path.read_bytes())
    value["outputs"] = {"../x": value["outputs"]["corpus"]}
    path.chmod(0o644)
    path.write_bytes(seal(value))
    problems = verify(local).problems
    assert [(problem.kind, problem.path) for problem in problems] == [
        ("damaged", path.relative_to(local.root).as_posix())
    ]
    assert local.latest(made.key) is None


@pytest.mark.parametrize("kind", ["refs", "runs", "pins", "publications"])
def test_a_tampered_record_is_a_named_damage(kind: str, local: LocalStore) -> None:
    made = finish(local, "merge", {"corpus": b"text"})
    publish(local, "run-1", 1.0, made)
    local.write_run("run-1", RunRecord("run-1", "en-ru", started=1.0, heartbeat=1.0, ended=2.0))
    local.pin("run-1", "why")
    local.add_publication(Publication(made.key, 1, "file:///released", 1.0))
    (path,) = local.files.walk(local.root / kind)
    whole = unseal(path.read_bytes())
    for field in whole:
        for wrong in NONSENSE:
            path.unlink(missing_ok=True)
            path.write_bytes(seal({**whole, field: wrong}))
            local.refs("ann/main", "en-ru", "merge_corpus")
            local.read_run("run-1")
            local.pins()
            local.publications()
            verify(local)
            path.unlink(missing_ok=True)


def test_a_manifest_nested_too_deeply_is_damage(local: LocalStore) -> None:
    import hashlib

    made = finish(local, "merge", {"corpus": b"text"})
    path = local.manifest_file(made.key, 1)
    body = b'{"a": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    path.chmod(0o644)
    path.write_bytes(b'{"sha256": "' + hashlib.sha256(body).hexdigest().encode() + b'", ' + body[1:] + b"\n")
    assert local.latest(made.key) is None
    assert made.key in local.damaged()
