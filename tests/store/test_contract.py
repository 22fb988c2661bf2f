"""Tests of the promises of every store: the same over those in a folder, in buckets and in memory."""

from __future__ import annotations

import hashlib
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import sleep

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.memory_store import MemoryStore
from tests.store.values import KEY, OTHER_KEY, manifest, ref
from translations_assets.common.errors import DamagedError, StoreError
from translations_assets.records.manifest import Blob, Publication
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store


def pass_a_moment(store: Store) -> None:
    """Let the store's clock go on; S3 tells times by the second."""
    sleep(1.1 if store.url.startswith("s3://") else 0.3)


def test_a_store_is_there_once_something_is_stored(store: Store) -> None:
    assert not store.exists()
    store.add_bytes(b"Saluton\n")
    assert store.exists()


def test_a_blob_is_known_by_its_sha256_and_size(store: Store) -> None:
    blob = store.add_bytes(b"Saluton\n")
    assert blob == Blob(hashlib.sha256(b"Saluton\n").hexdigest(), 8)
    assert store.read_blob(blob) == b"Saluton\n"
    assert store.has_blob(blob)


def test_a_file_and_its_bytes_are_the_same_blob(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "corpus.eo"
    file.write_bytes(b"unu\ndu\n" * 300_000)
    blob = store.add_blob(file)
    assert blob == store.add_bytes(file.read_bytes())
    assert file.stat().st_nlink == 1, "the file is the caller's: the store keeps a copy"


def test_the_callers_file_may_change_after_it_was_stored(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "filters.txt"
    file.write_text("before")
    blob = store.add_blob(file)
    file.write_text("after!")
    assert store.read_blob(blob) == b"before"


def test_an_empty_file_can_be_stored(store: Store, tmp_path: Path) -> None:
    blob = store.add_bytes(b"")
    assert store.has_blob(blob)
    store.place_blob(blob, tmp_path / "empty")
    assert (tmp_path / "empty").read_bytes() == b""


def test_a_placed_blob_is_read_only(store: Store, tmp_path: Path) -> None:
    blob = store.add_bytes(b"one\n")
    store.place_blob(blob, tmp_path / "text")
    assert (tmp_path / "text").read_bytes() == b"one\n"
    assert stat.S_IMODE((tmp_path / "text").stat().st_mode) == 0o444


def test_what_is_not_there_is_damage_that_is_named(store: Store, tmp_path: Path) -> None:
    blob = Blob("12" * 32, 7)
    assert not store.has_blob(blob)
    with pytest.raises(DamagedError, match=blob.digest):
        store.read_blob(blob)
    with pytest.raises(DamagedError, match=blob.digest):
        store.place_blob(blob, tmp_path / "text")
    assert not (tmp_path / "text").exists()


def test_a_source_that_cannot_be_read_is_named(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nowhere.txt"):
        store.add_blob(tmp_path / "nowhere.txt")


def test_quarantined_contents_are_not_used_and_can_be_stored_again(store: Store) -> None:
    blob = store.add_bytes(b"text")
    store.quarantine(blob, "found damaged")
    assert not store.has_blob(blob)
    assert store.add_bytes(b"text") == blob
    assert store.read_blob(blob) == b"text"


def test_many_writers_of_one_blob_all_succeed(store: Store) -> None:
    data = b"the same contents\n" * 10_000
    with ThreadPoolExecutor(8) as pool:
        blobs = set(pool.map(lambda _: store.add_bytes(data), range(24)))
    assert len(blobs) == 1
    assert store.read_blob(blobs.pop()) == data


def test_a_step_is_finished_by_its_manifest(store: Store) -> None:
    assert store.latest(KEY) is None
    made = manifest({"part.1.zst": store.add_bytes(b"1"), "part.2.zst": store.add_bytes(b"2")})
    assert store.commit(made) == made
    assert store.latest(KEY) == made
    assert store.generation(KEY, 1) == made
    assert store.generation(KEY, 2) is None
    assert store.latest(OTHER_KEY) is None


def test_the_highest_generation_counts(store: Store) -> None:
    for generation in (1, 2, 10, 9):
        store.commit(manifest({"out": store.add_bytes(b"x")}, generation=generation))
    latest = store.latest(KEY)
    assert latest is not None
    assert latest.generation == 10


def test_the_second_writer_of_a_generation_takes_the_firsts_result(store: Store) -> None:
    first = manifest({"model": store.add_bytes(b"first")})
    second = manifest({"model": store.add_bytes(b"second")})
    assert store.commit(first) == first
    assert store.commit(second) == first
    assert store.latest(KEY) == first


def test_concurrent_commits_agree_on_one_result(store: Store) -> None:
    made = [manifest({"model": store.add_bytes(b"%d" % number)}) for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        counted = list(pool.map(store.commit, made))
    assert counted == [store.latest(KEY)] * 12
    assert counted[0] in made


def test_nothing_is_finished_without_its_outputs(store: Store) -> None:
    with pytest.raises(DamagedError, match=r"corpus\.ru\.zst"):
        store.commit(manifest({"corpus.ru.zst": Blob("12" * 32, 7)}))
    assert store.latest(KEY) is None


def test_keys_are_listed(store: Store) -> None:
    for key in (OTHER_KEY, KEY):
        store.commit(manifest({"out": store.add_bytes(b"x")}, key=key))
    assert [made.key for made in store.manifests()] == [KEY, OTHER_KEY]


def test_one_owner_at_a_time(store: Store) -> None:
    owners = store.owners
    with (
        owners.lock(KEY, 1) as first,
        owners.lock(KEY, 1) as second,
        owners.lock(KEY, 2) as other,
    ):
        assert (first, second, other) == (True, False, True)
    with owners.lock(KEY, 1) as again:
        assert again


def test_whether_a_step_is_owned_can_be_asked_without_owning_it(store: Store) -> None:
    assert not store.owners.is_owned(KEY, 1)
    with store.owners.lock(KEY, 1):
        assert store.owners.is_owned(KEY, 1)
        assert not store.owners.is_owned(KEY, 2)
        assert not store.owners.is_owned(OTHER_KEY, 1)
    assert not store.owners.is_owned(KEY, 1)
    with store.owners.lock(KEY, 1) as free:
        assert free


def test_nothing_is_taken_from_a_finished_step_that_nobody_left_behind(store: Store) -> None:
    with store.owners.lock(OTHER_KEY, 1) as owner:
        store.owners.disown([(KEY, 1)])
        assert owner
        assert store.owners.is_owned(OTHER_KEY, 1)


def test_a_failing_owner_frees_the_step(store: Store) -> None:
    with pytest.raises(RuntimeError, match="failed"), store.owners.lock(KEY, 1):
        raise RuntimeError("failed")
    with store.owners.lock(KEY, 1) as again:
        assert again


def test_log_parts_are_read_in_order_from_any_part_on(store: Store) -> None:
    for part in range(12):
        store.append_log(KEY, 1, 2, part, b"part %d\n" % part)
    assert list(store.read_log(KEY, 1, 2))[9:] == [b"part 9\n", b"part 10\n", b"part 11\n"]
    assert list(store.read_log(KEY, 1, 2, part=11)) == [b"part 11\n"]
    assert list(store.read_log(KEY, 1, 2, part=-2)) == [b"part 10\n", b"part 11\n"]
    assert list(store.read_log(KEY, 1, 3)) == []


def test_log_parts_are_written_once(store: Store) -> None:
    store.append_log(KEY, 1, 1, 0, b"mine\n")
    with pytest.raises(StoreError, match="there already"):
        store.append_log(KEY, 1, 1, 0, b"another's\n")
    store.append_log(KEY, 1, 1, 0, b"mine\n")  # again, as the answer was lost
    assert list(store.read_log(KEY, 1, 1)) == [b"mine\n"]


def test_the_replies_in_a_part_are_no_part_of_the_log(store: Store) -> None:
    mark = b"\x1e# replies\n"
    assert store.log_part(KEY, 1, 1, 0) is None
    store.append_log(KEY, 1, 1, 0, b"one\n", b"started\n")
    store.append_log(KEY, 1, 1, 1, b"two\n")
    store.append_log(KEY, 1, 1, 2, b"a script wrote" + mark + b"this\n")
    store.append_log(KEY, 1, 1, 3, mark, b"ended\n")
    assert list(store.read_log(KEY, 1, 1)) == [b"one\n", b"two\n", b"a script wrote" + mark + b"this\n", mark]
    parts = [store.log_part(KEY, 1, 1, number) for number in range(5)]
    replies = [part and part[1] for part in parts]
    assert replies == [b"started\n", b"", b"", b"ended\n", None]


def test_attempts_are_those_with_a_log_of_the_generation(store: Store) -> None:
    for generation, attempt in ((1, 10), (1, 2), (2, 1), (12, 3)):
        store.append_log(KEY, generation, attempt, 0, b"x")
    assert store.attempts(KEY, 1) == [2, 10]
    assert store.attempts(KEY, 2) == [1]
    assert store.attempts(OTHER_KEY, 1) == []


def test_the_time_of_an_attempt_is_that_of_its_log(store: Store) -> None:
    store.append_log(KEY, 1, 1, 0, b"begun\n")
    assert store.log_seconds(KEY, 1, 1) == 0.0
    pass_a_moment(store)
    store.append_log(KEY, 1, 1, 1, b"going on\n")
    pass_a_moment(store)
    store.append_log(KEY, 1, 1, 2, b"killed\n")
    assert 0.5 < store.log_seconds(KEY, 1, 1) < 60
    assert store.log_seconds(KEY, 1, 2) == 0.0


def checkpoint_set(folder: Path, text: str) -> Path:
    """A set of two files, one below a folder."""
    (folder / "opustrainer").mkdir(parents=True)
    (folder / "model.npz").write_text(f"model {text}")
    (folder / "opustrainer" / "state.yml").write_text(f"state {text}")
    return folder


def test_the_newest_two_checkpoint_sets_are_kept(store: Store, tmp_path: Path) -> None:
    for name in ("000100", "000200", "000300"):
        store.add_checkpoint(KEY, 1, name, checkpoint_set(tmp_path / name, name))
    placed = tmp_path / "placed"
    placed.mkdir()
    assert store.place_checkpoints(KEY, 1, placed) == ["000200", "000300"]
    assert sorted(path.name for path in placed.iterdir()) == ["000200", "000300"]
    assert (placed / "000300" / "opustrainer" / "state.yml").read_text() == "state 000300"
    assert store.place_checkpoints(KEY, 2, placed) == []


def test_placed_checkpoints_may_be_written(store: Store, tmp_path: Path) -> None:
    store.add_checkpoint(KEY, 1, "000100", checkpoint_set(tmp_path / "set", "a"))
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    store.place_checkpoints(KEY, 1, tmp_path / "one")
    (tmp_path / "one" / "000100" / "model.npz").write_text("trained further")
    store.place_checkpoints(KEY, 1, tmp_path / "two")
    assert (tmp_path / "two" / "000100" / "model.npz").read_text() == "model a"


def test_dropped_checkpoints_are_gone(store: Store, tmp_path: Path) -> None:
    store.add_checkpoint(KEY, 1, "000100", checkpoint_set(tmp_path / "set", "a"))
    store.add_checkpoint(KEY, 2, "000100", tmp_path / "set")
    store.drop_checkpoints(KEY, 1)
    store.drop_checkpoints(KEY, 1)
    assert store.place_checkpoints(KEY, 1, tmp_path) == []
    assert store.place_checkpoints(KEY, 2, tmp_path) == ["000100"]
    store.add_checkpoint(KEY, 1, "000200", tmp_path / "set")
    assert store.place_checkpoints(KEY, 1, tmp_path) == ["000200"]


def test_refs_are_listed_newest_first(store: Store) -> None:
    older, newer = ref("run-b", 1.0), ref("run-a", 2.0)
    store.add_ref(older)
    store.add_ref(newer)
    assert store.refs(older.space, older.partition, "merge_corpus") == [newer, older]
    assert store.refs(older.space, older.partition, "train_vocab") == []


def test_a_run_may_publish_a_stage_twice(store: Store) -> None:
    for time in (1.0, 2.0, 3.0):
        store.add_ref(ref("run-a", time))
    assert [found.time for found in store.refs("ann/main", "en-ru.big-vocab", "merge_corpus")] == [
        3.0,
        2.0,
        1.0,
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(space=st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_any_space_and_partition_finds_its_own_refs(store: Store, space: str) -> None:
    published = ref("run", 1.0, space=space, partition=space + "@abc123")
    store.add_ref(published)
    assert published in store.refs(space, space + "@abc123", "merge_corpus")


def test_names_never_leave_the_store(store: Store, tmp_path: Path) -> None:
    store.add_ref(ref("../../../run", 1.0, space="..", partition="../../../../outside"))
    store.add_config("../../outside", "experiment: {}\n")
    store.write_run("../../outside", RunRecord())
    assert {path.name for path in tmp_path.iterdir()} <= {"store"}
    assert len(store.refs("..", "../../../../outside", "merge_corpus")) == 1


def test_an_empty_name_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="empty name"):
        store.add_ref(ref("run", 1.0, space=""))


def test_a_runs_state_is_replaced_and_runs_are_listed_by_their_beginning(store: Store) -> None:
    record = RunRecord("run-1", "en-ru", "ann", ("en", "ru"), uses={"step": (KEY, 1)}, ended=1.0)
    for run in ("run-1", "run-2", "run-0"):
        store.write_run(run, RunRecord(stages=("a",)))
        pass_a_moment(store)
    store.write_run("run-1", record)
    assert store.read_run("run-1") == record
    assert store.read_run("run-3") is None
    assert store.runs() == ["run-0", "run-2", "run-1"]


def test_pinned_runs_are_listed_and_never_replaced_silently(store: Store) -> None:
    for run in ("run-1", "run-2"):
        store.write_run(run, RunRecord())
        store.pin(run, f"why {run}")
    assert {run: pin.reason for run, pin in store.pins().items()} == {
        "run-1": "why run-1",
        "run-2": "why run-2",
    }
    with pytest.raises(StoreError, match="run-1 is pinned already"):
        store.pin("run-1", "another reason")
    assert store.pins()["run-1"].reason == "why run-1"
    store.unpin("run-1")
    assert list(store.pins()) == ["run-2"]
    with pytest.raises(StoreError, match="run-1 is not pinned"):
        store.unpin("run-1")
    with pytest.raises(StoreError, match="no run run-3"):
        store.pin("run-3", "")


def test_the_first_publication_to_a_place_counts(store: Store) -> None:
    first, other = Publication(KEY, 1, "file:///a", 2.0), Publication(KEY, 1, "gs://b", 1.0)
    for made in (first, other, replace(first, time=3.0)):
        store.add_publication(made)
    assert store.publications() == [other, first]


def test_every_generation_is_listed_by_key(store: Store) -> None:
    made = [
        store.commit(manifest({"out": store.add_bytes(b"x")}, key=key, generation=generation))
        for key, generation in ((KEY, 1), (KEY, 2), (OTHER_KEY, 10))
    ]
    assert list(store.manifests()) == made
    assert list(store.retired()) == []


def test_configs_are_never_replaced(store: Store) -> None:
    store.add_config("en-ru.pasted", "experiment:\n  src: en\n")
    store.add_config("en-ru.pasted", "experiment:\n  src: en\n")
    with pytest.raises(StoreError, match=r"en-ru\.pasted.*never replaced"):
        store.add_config("en-ru.pasted", "experiment:\n  src: de\n")
    assert store.config_names() == ["en-ru.pasted"]
    assert store.config("en-ru.pasted") == "experiment:\n  src: en\n"
    assert store.config("en-ru") is None


def test_an_empty_store_holds_nothing(store: Store) -> None:
    assert list(store.manifests()) == []
    assert store.runs() == []
    assert store.config_names() == []


def test_only_this_process_can_use_a_store_in_memory() -> None:
    assert MemoryStore().url.startswith("memory://")


def test_who_waits_for_a_step_is_counted_as_long_as_it_waits(store: Store) -> None:
    owners = store.owners
    assert owners.waiters(KEY, 1) == 0
    with (
        owners.waiting(KEY, 1),
        owners.waiting(KEY, 1),
        owners.waiting(KEY, 2),
        owners.waiting(OTHER_KEY, 1),
    ):
        assert owners.waiters(KEY, 1) == 2
        assert owners.waiters(KEY, 2) == 1
    assert owners.waiters(KEY, 1) == owners.waiters(KEY, 2) == owners.waiters(OTHER_KEY, 1) == 0


def test_waiting_is_no_owning(store: Store) -> None:
    with store.owners.waiting(KEY, 1), store.owners.lock(KEY, 1) as owner:
        assert owner
        assert store.owners.waiters(KEY, 1) == 1
