"""The garbage collector beside processes that write and read: it never takes what they rely on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from tests.patience import PATIENCE
from tests.store.values import finish, manifest, publish
from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.store import gc
from translations_assets.store.gc import collect
from translations_assets.store.local import LocalStore
from translations_assets.store.verify import verify

NOTHING = Rules(keep_days=0, keep_refs=0, grace_days=0)
COMMITS = 60  # of each writer

# Commits steps that share few contents. Of three steps the collector keeps one, as it has "ended" far ahead.
# With a run's record nothing may ever be missing; without, contents may go before the commit, which says so.
WRITER = """
import pathlib, random, sys, time
from dataclasses import replace
from tests.store.values import manifest
from translations_assets.common.errors import DamagedError
from translations_assets.records.run import RunRecord
from translations_assets.store.local import LocalStore
root, name, recorded = sys.argv[1:]
store, draw = LocalStore(pathlib.Path(root)), random.Random(name)
if recorded == "recorded":
    store.write_run(name, RunRecord(name, started=time.time(), heartbeat=time.time()))
number, committed, refused = 0, 0, 0
while committed < %s:
    number += 1
    outputs = {file: store.add_bytes(b"contents %%d" %% draw.randrange(12)) for file in ("a", "b")}
    made = manifest(outputs, key=f"{name}{number:056x}", label=f"step {number}")
    try:
        store.commit(replace(made, ended=time.time() + (1000 if number %% 3 == 0 else -1000)))
        committed += 1
    except DamagedError:
        refused += 1
print(committed, refused)
"""


def collect_while(processes: list[subprocess.Popen[str]], local: LocalStore) -> tuple[int, int]:
    """Collect again and again until the processes have ended; numbers of collections and artifacts freed."""
    times = freed = 0
    while any(process.poll() is None for process in processes):
        freed += collect(local, NOTHING, delete=True).total().count
        times += 1
    return times, freed


def start(program: str, *words: str) -> subprocess.Popen[str]:
    """A process that runs a program."""
    return subprocess.Popen([sys.executable, "-c", program, *words], stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> list[int]:
    """The numbers that a process printed; it has ended well."""
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    return [int(word) for word in out.split()]


@pytest.mark.parametrize("recorded", ["recorded", "not recorded"])
def test_no_manifest_ever_names_contents_that_were_taken(local: LocalStore, recorded: str) -> None:
    words = (str(local.root),)
    writers = [start(WRITER % COMMITS, *words, f"{n:08x}", recorded) for n in range(2)]
    times, freed = collect_while(writers, local)
    counts = [said(writer) for writer in writers]
    assert times > 1
    if recorded == "recorded":
        assert sum(refused for _, refused in counts) == 0
    else:
        assert freed > 0
    kept = list(local.manifests())
    assert len(kept) > COMMITS / 3
    for made in kept:
        for blob in made.outputs.values():
            assert local.has_blob(blob), f"{made.label} has lost its contents"


def old_outputs(store: LocalStore) -> dict[str, Blob]:
    """An output that was stored long ago and that nothing names."""
    blob = store.add_bytes(b"an output")
    os.utime(store.blob_file(blob.digest), (1, 1))
    return {"out": blob}


def test_a_collection_waits_for_a_commit_that_has_looked_at_its_outputs(local: LocalStore) -> None:
    made = replace(manifest(old_outputs(local)), ended=time.time() + 1000)

    class Slow(LocalStore):
        def _create(self, manifest: Manifest) -> Manifest:
            collector.start()
            collector.join(0.3)
            assert collector.is_alive(), "the collection did not wait"
            return super()._create(manifest)

    collector = Thread(target=lambda: collect(LocalStore(local.root), NOTHING, delete=True))
    Slow(local.root).commit(made)
    collector.join()
    assert local.has_blob(made.outputs["out"])


@pytest.mark.parametrize("how", ["committed", "found"])
def test_what_is_used_after_the_manifests_were_read_is_spared(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The collection knows nothing of the commit, but sees that the contents were touched."""
    made, other = replace(manifest(old_outputs(local)), ended=time.time()), LocalStore(local.root)
    sweep = gc._Collection._sweep_contents

    def later(collection: gc._Collection[Path], before: int) -> None:
        if how == "committed":
            other.commit(made)
        else:
            other.add_bytes(b"an output")
        sweep(collection, before)

    monkeypatch.setattr(gc._Collection, "_sweep_contents", later)
    collect(local, NOTHING, delete=True)
    other.commit(made)
    assert local.has_blob(made.outputs["out"])


READER = """
import pathlib, sys, time
from translations_assets.records.run import RunRecord
from translations_assets.store.local import LocalStore
root, run = sys.argv[1:]
store = LocalStore(pathlib.Path(root))
uses = {}
record = RunRecord(run, started=time.time(), heartbeat=time.time(), uses=uses)
store.write_run(run, record)
found = list(store.manifests())
print(len(found), flush=True)
sys.stdin.readline()
for number, manifest in enumerate(found):
    uses[manifest.label] = manifest.key, manifest.generation
    store.write_run(run, record)
    target = pathlib.Path(sys.argv[1]).parent / f"{run}.{number}"
    store.place_blob(manifest.outputs["out"], target)
    target.unlink()
print(len(found))
"""


def test_what_a_run_has_found_stays_until_it_has_used_it(local: LocalStore) -> None:
    """The run looks up, the collector comes and goes, and only then the run writes down and uses."""
    for number in range(5):
        finish(local, f"step {number}", {"out": b"contents %d" % number})
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(local.root), "run-1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert reader.stdout is not None
    assert reader.stdout.readline() == "5\n"
    collected = collect(local, NOTHING, delete=True)
    assert list(local.manifests()) == [], "nobody else finds it any more"
    assert (collected.total().count, collected.running) == (0, ["run-1"])
    assert collected.later.count == 5 + 2, "outputs, code and config stay"
    out, _ = reader.communicate("\n", timeout=PATIENCE)
    assert out == "5\n"
    collect(local, NOTHING, delete=True)
    assert len(list(local.manifests())) == 5, "what a run uses is back"
    assert not verify(local).problems
    end_run(local, "run-1")
    assert collect(local, NOTHING, delete=True).total().count == 5
    assert list((local.root / "blobs").rglob("*/*")) == []


def end_run(store: LocalStore, run: str) -> None:
    """Write down that a run has ended."""
    store.write_run(run, replace(store.read_run(run) or RunRecord(), ended=time.time()))


def test_two_collections_at_once_are_refused(local: LocalStore) -> None:
    local.add_bytes(b"x")
    with local.files.locked("gc", alone=True):
        with pytest.raises(StoreError, match=r"Another.*is running.*Wait until it ends"):
            collect(local, NOTHING, delete=True)
        with pytest.raises(StoreError, match="is running"):
            verify(local)
        local.write_run("run-1", RunRecord())
        with pytest.raises(StoreError, match="Pin the run when that has ended"):
            local.pin("run-1", "")
        collect(local, NOTHING, delete=False)
    collect(local, NOTHING, delete=True)


def test_what_a_run_publishes_that_a_collection_has_just_retired_is_put_back(local: LocalStore) -> None:
    """The run had found it, and the collection had read the records before the run put that on record."""
    made, other = (finish(local, name, {"corpus": name.encode()}) for name in ("merge", "vocab"))
    for each in (made, other):
        local.retire(each.key, each.generation)
    publish(local, "run-1", 1.0, made)
    assert local.latest(made.key) == made
    assert [each.label for each in local.retired()] == ["vocab"]


def test_what_a_collection_is_just_retiring_is_kept_from_it(local: LocalStore) -> None:
    """In a bucket the manifest stands in both places for a moment, and a removal may come late."""
    made = finish(local, "merge", {"corpus": b"text"})
    retired = local.retired_file(made.key, made.generation)
    retired.parent.mkdir(exist_ok=True)
    retired.write_bytes(local.manifest_file(made.key, made.generation).read_bytes())
    publish(local, "run-1", 1.0, made)
    assert local.latest(made.key) == made
    assert not retired.exists()


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_manifest_that_a_collection_had_half_retired(local: LocalStore, is_kept: bool) -> None:
    """That collection was ended in between: what is kept is whole again, the rest is retired."""
    made = finish(local, "merge", {"corpus": b"text"})
    if is_kept:
        publish(local, "run-1", 1.0, made)
    retired = local.retired_file(made.key, made.generation)
    retired.parent.mkdir(exist_ok=True)
    retired.write_bytes(local.manifest_file(made.key, made.generation).read_bytes())
    rules = Rules() if is_kept else NOTHING
    collect(local, rules, delete=False)
    assert retired.exists()
    collect(local, rules, delete=True)
    assert (local.latest(made.key) == made) is is_kept
    assert not (is_kept and retired.exists())


def test_a_run_that_a_collection_forgets_meanwhile_is_not_pinned(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    local.write_run("run-1", RunRecord())
    reserved = local.files.reserved

    def reserved_after_a_collection(name: str) -> AbstractContextManager[bool]:
        local.remove_run("run-1")
        return reserved(name)

    monkeypatch.setattr(local.files, "reserved", reserved_after_a_collection)
    with pytest.raises(StoreError, match="no run run-1"):
        local.pin("run-1", "")
    assert local.pins() == {}


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "store")
    collect(store, NOTHING, delete=False)
    assert not store.root.exists()
