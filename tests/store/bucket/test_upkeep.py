"""`gc`, `verify` and pins over a bucket; what they decide is tested over a folder."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import pytest

from tests.store.bucket.conftest import Service, flip
from tests.store.values import finish, manifest, publish
from tests.virtual_clock import VirtualClock
from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.store.bucket.leases import PERIOD, Leases
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gc import Collected, collect
from translations_assets.store.medium import StoredFile
from translations_assets.store.records import RECORDS
from translations_assets.store.verify import verify

RULES = Rules(keep_days=1, keep_refs=1, grace_days=0)


def free(store: BucketStore) -> Collected:
    """Collect, and see that what is left is whole."""
    collected = collect(store, RULES, delete=True)
    assert verify(store).problems == []
    return collected


def blob_name(blob: Blob) -> str:
    """The object that has the contents."""
    return f"blobs/{blob.digest[:2]}/{blob.digest}"


@pytest.fixture
def steps(store: BucketStore, service: Service) -> dict[str, Manifest]:
    """Steps of long ago: one that a ref names, one whose output it was made from, one for nobody."""
    dataset = finish(store, "dataset", {"text": b"t" * 50}, stage="dataset")
    steps = {
        "dataset": dataset,
        "kept": finish(store, "merge", {"corpus": b"c" * 300}, {"in/text": dataset.outputs["text"]}),
        "old": finish(store, "merge-old", {"corpus": b"x" * 5000}),
    }
    for made in steps.values():
        store.append_log(made.key, 1, 1, 0, b"said\n")
    publish(store, "run-1", 1.0, steps["kept"])
    service.age()
    return steps


def test_what_nothing_names_is_freed(
    store: BucketStore, service: Service, steps: dict[str, Manifest]
) -> None:
    dry = collect(store, RULES, delete=False)
    before = service.names()
    collected = free(store)
    assert len(service.names()) < len(before)
    assert [made.label for made in store.manifests()] == ["merge"]
    assert [made.label for made in store.retired()] == ["dataset"], "how an input was made stays known"
    assert not store.has_blob(steps["old"].outputs["corpus"])
    assert store.read_blob(steps["kept"].outputs["corpus"]) == b"c" * 300
    assert list(store.read_log(steps["old"].key, 1, 1)) == []
    assert list(store.read_log(steps["kept"].key, 1, 1)) == [b"said\n"]
    assert (collected.stages["merge_corpus"].bytes, dry.stages["merge_corpus"].bytes) == (5000, 5000)
    assert vars(free(store).total()) == {"count": 0, "bytes": 0}, "nothing is left to free"
    assert not [name for name in service.names() if name.startswith(("leases/", "clock/"))]


def test_what_is_fresh_is_left_for_later(store: BucketStore, service: Service) -> None:
    """Whoever finds fresh contents relies on them without a touch."""
    blob = store.add_bytes(b"of a step that runs")
    collected = free(store)
    assert store.has_blob(blob)
    assert collected.later.count == 1


def test_what_need_not_be_touched_any_more_is_not_collected_either(store: BucketStore) -> None:
    """Contents are touched once an hour at most; who relies on fresh ones is not seen by the collector."""
    hour, clocks = 3600 * 10**9, 600 * 10**9
    ago = time.time_ns() - store.files.mark_time()
    assert abs(ago - hour - clocks) < clocks / 2


def test_what_is_touched_after_it_was_listed_stays(
    store: BucketStore, service: Service, steps: dict[str, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step finds contents, and is finished, between the listing and the removal."""
    blob = steps["old"].outputs["corpus"]
    other = BucketStore(store.files.objects)
    made = manifest({"corpus": blob}, label="a new step")
    discard = type(store.files).discard

    def later(files: object, entry: StoredFile) -> None:
        if entry.name == blob.digest:
            assert other.commit(made) == made
        discard(files, entry)  # type: ignore[arg-type]

    monkeypatch.setattr(type(store.files), "discard", later)
    collect(store, RULES, delete=True)
    assert store.read_blob(blob) == b"x" * 5000
    assert store.latest(made.key) == made


def test_what_a_pinned_run_uses_is_kept(
    store: BucketStore, service: Service, steps: dict[str, Manifest]
) -> None:
    old = steps["old"]
    uses = {old.label: (old.key, 1)}
    store.write_run("run-0", RunRecord("run-0", started=1.0, heartbeat=2.0, ended=3.0, uses=uses))
    store.pin("run-0", "the baseline")
    collected = free(store)
    assert collected.pinned == ["run-0"]
    assert store.read_blob(old.outputs["corpus"]) == b"x" * 5000
    store.unpin("run-0")
    free(store)
    assert store.latest(old.key) is None


def test_checkpoints_of_finished_steps_are_no_damage_and_are_removed(
    store: BucketStore, service: Service, steps: dict[str, Manifest], tmp_path: object
) -> None:
    names = [
        f"checkpoints/{steps['kept'].key}/1/7/000100/set.json",
        f"checkpoints/{'ee' * 32}/1/7/000100/set.json",
    ]
    for name in names:
        store.files.objects.write(name, b"{}")  # as by a request that is carried out late: without its files
    uses = {"train-teacher": ("ee" * 32, 1)}
    store.write_run("run-2", RunRecord("run-2", "en-ru", started=1.0, heartbeat=2.0, ended=3.0, uses=uses))
    (problem,) = verify(store).problems
    assert problem.path == names[1].removesuffix("/set.json")
    assert [(owner.label, owner.role) for owner in problem.owners] == [("train-teacher", "checkpoint set")]
    store.files.objects.write(names[1], b"{}")
    collect(store, RULES, delete=True)
    assert [name in service.names() for name in names] == [False, True]


def test_verify_names_what_is_damaged_missing_and_strange(
    store: BucketStore, service: Service, steps: dict[str, Manifest]
) -> None:
    assert verify(store).problems == []
    damaged, missing = blob_name(steps["kept"].outputs["corpus"]), blob_name(steps["old"].outputs["corpus"])
    service.damage(damaged, b"d" * 300)
    store.files.objects.delete(missing)
    service.damage(f"steps/{steps['dataset'].key[:2]}/{steps['dataset'].key}/1.json", b"{}")
    flip(service, f"logs/{steps['kept'].key}/1.1/0")
    for name in ("notes.txt", "elsewhere/file", "steps/ab/file", "blobs/ab/file"):
        store.files.objects.write(name, b"")
    found = {(problem.kind, problem.path): problem for problem in verify(store).problems}
    assert {kind for kind, _ in found} == {"damaged", "missing", "strange"}
    assert {path for kind, path in found if kind == "missing"} == {missing}
    assert {path for kind, path in found if kind == "strange"} == {
        "notes.txt",
        "elsewhere",
        "steps/ab/file",
        "blobs/ab/file",
    }
    assert ("damaged", damaged) in found
    assert [owner.label for owner in found["missing", missing].owners] == ["merge-old"]
    assert damaged not in service.names(), "it is put aside"
    assert len({path for kind, path in found if kind == "damaged"}) == 3


def test_a_dead_collectors_lock_is_taken_over(
    store: BucketStore, service: Service, steps: dict[str, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("translations_assets.store.bucket.store._POLL_SECONDS", 0.05)
    objects = store.files.objects
    objects.write("leases/gc.0", b'{"owner": "dead"}')
    collect(BucketStore(objects, Leases(objects, period=1.5)), RULES, delete=True)
    assert not store.has_blob(steps["old"].outputs["corpus"])


@dataclass
class Late:
    """A person's store, with a clock of its own, whose machine is about to lose the store's lock."""

    store: BucketStore
    clock: VirtualClock
    is_asleep: bool

    def lose_lock(self) -> None:
        """Be stopped for so long that another takes the lock over, or sleep with the machine."""
        self.store.files.objects.write("leases/gc.0", b'{"owner": "another", "lapse": 45}')
        if self.is_asleep:
            self.clock.slept += 3 * PERIOD
        else:
            self.clock.run(3 * PERIOD)


@pytest.fixture(params=["asleep", "stopped"])
def late(store: BucketStore, steps: dict[str, Manifest], request: pytest.FixtureRequest) -> Late:
    """A second store over the same steps."""
    clock = VirtualClock()
    leases = Leases(store.files.objects, PERIOD, clock)
    return Late(BucketStore(store.files.objects, leases), clock, request.param == "asleep")


def test_a_collector_that_has_lost_its_lock_removes_nothing(
    store: BucketStore, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    marked = late.store.files.mark_time

    def mark_time() -> int:
        late.lose_lock()
        return marked()

    monkeypatch.setattr(late.store.files, "mark_time", mark_time)
    with pytest.raises(StoreError, match="nothing more is done"):
        collect(late.store, RULES, delete=True)
    assert len(list(store.manifests())) == 3


@pytest.mark.parametrize("gone", ["contents", "log"])
def test_a_verification_that_has_lost_its_lock_takes_what_is_collected_for_no_damage(
    store: BucketStore, steps: dict[str, Manifest], late: Late, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, objects = steps["old"], store.files.objects
    name = blob_name(old.outputs["corpus"]) if gone == "contents" else f"logs/{old.key}/1.1/0"
    store.append_log(old.key, 1, 1, 1, b"more\n")
    all_records = late.store.all_records

    def read_records(folders: tuple[str, ...] = RECORDS) -> Iterator[tuple[PurePosixPath, object]]:
        yield from all_records(folders)
        late.lose_lock()
        objects.delete(name)

    monkeypatch.setattr(late.store, "all_records", read_records)
    with pytest.raises(StoreError, match="nothing more is done"):
        verify(late.store)
    assert objects.stat(name) is None, "nothing is put in its place"


def test_a_pin_that_has_lost_the_lock_is_none(
    store: BucketStore, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.write_run("run-1", RunRecord())
    read_run = late.store.read_run

    def read(run: str) -> RunRecord | None:
        late.lose_lock()
        return read_run(run)

    monkeypatch.setattr(late.store, "read_run", read)
    with pytest.raises(StoreError, match="nothing more is done"):
        late.store.pin("run-1", "the release of May")
    assert store.pins() == {}


@pytest.mark.parametrize("by", ["the next run", "the next collection"])
def test_a_manifest_in_use_outlives_a_removal_that_comes_late(
    store: BucketStore, steps: dict[str, Manifest], by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, asked = steps["old"], list[tuple[Any, ...]]()

    def give_up(_: object, *removal: Any) -> bool:
        asked.append(removal)
        raise StoreUnreachable("The bucket does not answer.")

    with monkeypatch.context() as late:
        late.setattr(type(store.files.objects), "delete", give_up)
        with pytest.raises(StoreUnreachable):
            store.retire(old.key, 1)
    time.sleep(1.1)  # S3's times have a second's precision; its own late requests name a version
    assert store.generation(old.key, 1), "it is found by a run that begins now"
    if by == "the next run":
        publish(store, "run-2", time.time(), old)
    else:
        with monkeypatch.context() as unaware:
            unaware.setattr(store, "restore", lambda key, number: None)
            publish(store, "run-2", time.time(), old)
        collect(store, RULES, delete=True)
    for removal in asked:
        store.files.objects.delete(*removal)
    assert store.generation(old.key, 1)
    assert not list(store.retired_files())
    assert verify(store).problems == []


def test_a_file_that_changes_while_it_is_moved_stays(
    store: BucketStore, steps: dict[str, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, retired = store.manifest_file(steps["old"].key, 1), store.retired_file(steps["old"].key, 1)
    copy = store.files.objects.copy

    def copy_and_change(_: object, name: str, target: str) -> bool:
        return copy(name, target) and store.files.renew(path)

    with monkeypatch.context() as busy:
        busy.setattr(type(store.files.objects), "copy", copy_and_change)
        store.files.move(path, retired)
    assert store.files.size(path) is not None
    store.files.move(path, retired)
    assert store.files.size(path) is None
    assert not store.files.renew(path)
