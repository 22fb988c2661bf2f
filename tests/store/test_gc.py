"""Tests of the files that the garbage collector of a store in a folder keeps and frees."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.store.values import KEY, finish, publish
from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.records.retention import DAY, Rules
from translations_assets.records.run import RunRecord
from translations_assets.store.gc import NO_STEP, Collected, collect
from translations_assets.store.local import LocalStore
from translations_assets.store.verify import verify

NOW = Rules(keep_days=1, keep_refs=1, grace_days=0)


def labels(store: LocalStore) -> set[str]:
    """The labels of the steps that count as finished."""
    return {made.label for made in store.manifests()}


def use(store: LocalStore, run: str, *made: Manifest, **more: Any) -> None:
    """Write a run's record; it ended long ago unless told otherwise."""
    uses = {one.label: (one.key, one.generation) for one in made}
    record = RunRecord(run, "en-ru", started=1.0, heartbeat=2.0, ended=3.0, uses=uses)
    store.write_run(run, replace(record, **more))


def free(store: LocalStore, rules: Rules = NOW) -> Collected:
    """Collect, and see that what is left is whole."""
    collected = collect(store, rules, delete=True)
    assert verify(store).problems == []
    return collected


def test_what_nothing_names_is_freed_with_its_contents_and_logs(local: LocalStore) -> None:
    old = finish(local, "merge-old", {"corpus": b"x" * 5000})
    new = finish(local, "merge-new", {"corpus": b"y" * 300}, ended=time.time())
    for made in (old, new):
        local.append_log(made.key, 1, 1, 0, b"said\n")
    collected = free(local)
    assert labels(local) == {"merge-new"}
    assert not local.has_blob(old.outputs["corpus"])
    assert local.has_blob(new.bundle), "the code of what is kept is kept"
    assert list(local.read_log(old.key, 1, 1)) == []
    assert list(local.read_log(new.key, 1, 1)) == [b"said\n"]
    assert vars(collected.stages["merge_corpus"]) == {"count": 1, "bytes": 5000}
    assert collected.kept.count == 1
    assert vars(free(local).total()) == {"count": 0, "bytes": 0}, "nothing is left to free"


def test_the_log_of_a_result_that_is_kept_stays_when_another_generation_of_its_step_goes(
    local: LocalStore,
) -> None:
    first = finish(local, "train", {"model": b"one"}, stage="train_teacher")
    second = local.commit(replace(first, generation=2))
    for number in (1, 2):
        local.append_log(first.key, number, 1, 0, b"said\n")
        os.utime(local.log_folder(first.key, number, 1), (1, 1))
    use(local, "run-2", second)
    local.pin("run-2", "the release")
    free(local)
    assert [made.generation for made in local.manifests()] == [2]
    assert list(local.read_log(first.key, 1, 1)) == []
    assert list(local.read_log(first.key, 2, 1)) == [b"said\n"]


def test_a_file_of_another_name_among_the_parts_of_a_log_stays(local: LocalStore) -> None:
    old = finish(local, "merge-old", {"corpus": b"x"})
    local.append_log(old.key, 1, 1, 0, b"said\n")
    notes = local.root / "logs" / old.key / "1.1" / "notes.txt"
    notes.write_text("of a person")
    os.utime(notes.parent, (1, 1))
    collect(local, NOW, delete=True)
    assert list(local.read_log(old.key, 1, 1)) == []
    assert notes.read_text() == "of a person"


def test_manifests_are_gone_for_good_before_their_contents_go(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut must not bring back a manifest whose contents are gone."""
    made = finish(local, "merge", {"corpus": b"x"})
    folder = local.manifest_file(made.key, 1).parent
    local.commit(replace(made, generation=2, ended=time.time()))
    contents = str(local.blob_file(finish(local, "merge-old", {"corpus": b"y"}).outputs["corpus"].digest))
    done: list[str] = []
    sync, unlink = local.files.sync, local.files.unlink

    def record_sync(path: Path) -> None:
        done.append(str(path))
        sync(path)

    def record_unlink(path: Path | str) -> None:
        done.append(str(path))
        unlink(path)

    monkeypatch.setattr(local.files, "sync", record_sync)
    monkeypatch.setattr(local.files, "unlink", record_unlink)
    free(local)
    removed = done.index(contents)
    shards = {str(path) for path in (local.root / "steps").iterdir()}
    assert {str(folder), *shards} <= set(done[:removed])


def test_refs_go_before_the_results_that_they_name(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A collection that is killed in between leaves no ref that names what is not there."""
    for number in range(2):
        publish(local, f"run-{number}", 1.0 + number, finish(local, f"merge-{number}", {"corpus": b"x"}))
    retire, seen = local.retire, list[list[str]]()

    def noted(key: str, number: int) -> None:
        seen.append([ref.run for ref in local.refs("ann/main", "en-ru", "merge_corpus")])
        retire(key, number)

    monkeypatch.setattr(local, "retire", noted)
    free(local)
    assert seen == [["run-1"]]


def test_what_was_retired_after_a_run_began_stays_while_it_runs_also_by_another_clock(
    local: LocalStore,
) -> None:
    """The clock of the machine where it runs is five minutes ahead."""
    old = finish(local, "merge-old", {"corpus": b"found by the run just before"})
    local.write_run("run-1", RunRecord("run-1", "en-ru", started=time.time() + 300, heartbeat=time.time()))
    collected = free(local)
    assert collected.running == ["run-1"]
    assert local.has_blob(old.outputs["corpus"])
    local.write_run("run-1", RunRecord("run-1", "en-ru", started=1.0, heartbeat=2.0, ended=3.0))
    free(local)
    assert not local.has_blob(old.outputs["corpus"])


def test_a_dry_run_says_the_same_and_removes_nothing(local: LocalStore) -> None:
    made = [finish(local, f"merge-{number}", {"corpus": b"%d" % number * 100}) for number in range(3)]
    publish(local, "run-1", 1.0, made[0])
    publish(local, "run-2", 2.0, made[1])
    use(local, "run-1", made[0])
    finish(local, "train", {"model": b"m" * 70}, stage="train_teacher")
    local.append_log(KEY, 1, 1, 0, b"of a step that failed long ago\n")
    os.utime(local.root / "logs" / KEY / "1.1", (1, 1))
    files = sorted(local.root.rglob("*"))
    dry = collect(local, NOW, delete=False)
    assert sorted(local.root.rglob("*")) == files
    real = free(local)
    assert (dry.deleted, real.deleted) == (False, True)
    dry.deleted = True
    assert dry == real
    assert {stage: share.count for stage, share in real.stages.items()} == {
        "merge_corpus": 2,
        "train_teacher": 1,
    }
    assert {kind: share.count for kind, share in real.rest.items()} == {"refs": 1, "logs": 1, "runs": 1}
    assert labels(local) == {"merge-1"}


def test_the_last_refs_of_each_stage_are_kept(local: LocalStore) -> None:
    made = [finish(local, f"merge-{number}", {"corpus": b"%d" % number}) for number in range(5)]
    for number, one in enumerate(made):
        publish(local, f"run-{number}", float(number), one)
    other = finish(local, "vocab", {"vocab": b"v"}, stage="train_vocab")
    publish(local, "run-0", 1.0, other, stage="train_vocab")
    free(local, Rules(keep_days=1, keep_refs=3, grace_days=0))
    assert labels(local) == {"merge-2", "merge-3", "merge-4", "vocab"}
    assert [ref.run for ref in local.refs("ann/main", "en-ru", "merge_corpus")] == ["run-4", "run-3", "run-2"]


def test_pinned_runs_exports_and_recent_runs_are_kept(local: LocalStore) -> None:
    made = {name: finish(local, name, {"out": name.encode()}) for name in ("pinned", "recent", "old")}
    finish(local, "export", {"model.bin": b"m"}, stage="export")
    for name, one in made.items():
        use(local, name, one, ended=time.time() - (3600 if name == "recent" else 90 * DAY))
    local.pin("pinned", "the release")
    free(local)
    assert labels(local) == {"pinned", "recent", "export"}
    assert local.runs() == ["recent", "pinned"]
    local.unpin("pinned")
    free(local)
    assert labels(local) == {"recent", "export"}


def test_a_pin_names_what_is_gone_already_and_that_is_no_damage(local: LocalStore) -> None:
    kept, gone = (finish(local, name, {"out": name.encode()}) for name in ("kept", "gone"))
    use(local, "run-1", kept, gone)
    publish(local, "run-1", 1.0, kept)
    free(local)
    assert local.pin("run-1", "the release").gone == ("gone",)
    free(local)
    assert labels(local) == {"kept"}
    (path,) = local.files.walk(local.root / "refs")
    local.files.unlink(path)
    local.retire(kept.key, kept.generation)
    (problem,) = verify(local).problems
    assert (problem.kind, problem.reason) == ("missing", "the pinned run run-1 uses it")


def test_a_running_run_keeps_what_it_uses_and_all_that_was_touched_since_it_began(local: LocalStore) -> None:
    used = finish(local, "used", {"out": b"used"})
    bundle = local.add_bytes(b"the code of a step that trains for weeks")
    before = local.add_bytes(b"of nobody")
    start = time.time() - 20 * DAY
    os.utime(local.blob_file(bundle.digest), (start + 5, start + 5))
    os.utime(local.blob_file(before.digest), (start - 5, start - 5))
    use(local, "run-1", used, started=start, heartbeat=time.time())
    record = replace(local.read_run("run-1") or RunRecord(), ended=None)
    local.write_run("run-1", record)
    collected = free(local)
    assert collected.running == ["run-1"]
    assert labels(local) == {"used"}
    assert local.has_blob(bundle)
    assert not local.has_blob(before)
    local.write_run("run-1", replace(record, heartbeat=time.time() - DAY))
    assert free(local).running == [], "it has died"
    assert not local.has_blob(bundle)


def test_contents_of_no_step_stay_for_the_days_of_grace(local: LocalStore) -> None:
    blob = local.add_bytes(b"written by a step that has not finished")
    collected = free(local, Rules(grace_days=7))
    assert (collected.total().bytes, collected.later.bytes) == (0, blob.size)
    os.utime(local.blob_file(blob.digest), (time.time() - 8 * DAY,) * 2)
    assert free(local, Rules(grace_days=7)).rest[NO_STEP].bytes == blob.size
    assert not local.has_blob(blob)


def test_an_output_that_was_written_long_ago_is_new_when_it_is_stored(local: LocalStore) -> None:
    file = local.root / "work" / "ab12" / "out" / "corpus"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"text")
    os.utime(file, (1, 1))
    blob = local.add_blob(file)
    file.unlink()
    free(local, Rules())
    assert local.has_blob(blob)


def test_contents_that_somebody_works_with_stay(local: LocalStore, tmp_path: Path) -> None:
    blob = local.add_bytes(b"placed")
    os.link(local.blob_file(blob.digest), tmp_path / "placed")
    time.sleep(0.01)
    assert free(local).later.bytes == blob.size
    (tmp_path / "placed").unlink()
    assert free(local).total().bytes == blob.size


def test_how_the_inputs_of_what_is_kept_were_made_stays_known(local: LocalStore) -> None:
    """Their files go, their code, config and repository files stay, up to the first step; others go whole."""
    filters = local.add_bytes(b"a file of the repository")
    dataset = finish(
        local, "dataset", {"text": b"d" * 1000}, {"filters/f.txt": filters}, stage="dataset_train"
    )
    merged = finish(local, "merged", {"text": b"m" * 2000}, {"text/text": dataset.outputs["text"]})
    finish(local, "unrelated", {"text": b"u" * 4000}, stage="clean_mono")
    student = finish(
        local, "student", {"model": b"s"}, {"model/text": merged.outputs["text"]}, stage="train_student"
    )
    use(local, "run-1", student)
    local.pin("run-1", "")
    collected = free(local)
    assert labels(local) == {"student"}
    assert collected.total().bytes == 7000 + len("code of clean_mono")
    assert {made.label for made in local.retired()} == {"dataset", "merged"}
    assert all(local.has_blob(blob) for blob in (dataset.bundle, merged.bundle, filters, student.bundle))
    assert free(local).total().bytes == 0
    finish(local, "merged", {"text": b"m" * 2000}, {"text/text": dataset.outputs["text"]})
    assert free(local).total().bytes == 2000, "made again, and collected again"
    assert {made.label for made in local.retired()} == {"dataset", "merged"}
    local.unpin("run-1")
    free(local)
    assert list(local.retired()) == []
    assert not local.has_blob(filters)


def test_checkpoint_sets_stay_while_they_are_young_or_their_step_runs(
    local: LocalStore, tmp_path: Path
) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "model.npz").write_bytes(b"model")
    young, old, finished = KEY, "cd" * 32, finish(local, "trained", {"model": b"m"}, ended=time.time()).key
    for key in (young, old, finished):
        local.add_checkpoint(key, 1, "000100", tmp_path / "set")
    os.utime(local.root / "checkpoints" / old / "1" / "000100", (1, 1))
    with local.owners.lock(old, 1):
        assert free(local).rest["checkpoint sets"].count == 1, "of the finished step"
    assert {key for key, _, _ in local.checkpoint_sets()} == {young, old}
    free(local)
    assert {key for key, _, _ in local.checkpoint_sets()} == {young}


def test_a_log_whose_removal_was_interrupted_is_whole(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in range(3):
        local.append_log(KEY, 1, 1, part, b"text\n")
    folder, unlink = local.log_folder(KEY, 1, 1), local.files.unlink

    def once(path: Path) -> None:
        unlink(path)
        raise StoreError("The disk was taken away.")

    with monkeypatch.context() as patch:
        patch.setattr(local.files, "unlink", once)
        with pytest.raises(StoreError):
            local.remove_log(folder)
    assert len(local.files.names(folder)) == 2
    assert verify(local).problems == []
    local.remove_log(folder)
    assert not folder.exists()


def test_quarantine_is_emptied_after_a_while(local: LocalStore) -> None:
    blob = local.add_bytes(b"damaged")
    local.quarantine(blob, "found")
    assert "quarantine" not in free(local).rest
    for path in (local.root / "quarantine").iterdir():
        aside = time.time_ns() - int(2 * DAY * 1e9)
        suffix = ".reason.json" if path.name.endswith("json") else ""
        path.rename(path.with_name(f"blob.{aside}{suffix}"))
    assert free(local).rest["quarantine"].count == 2
    assert list((local.root / "quarantine").iterdir()) == []


@pytest.mark.parametrize("kind", ["refs", "runs", "pins", "steps"])
def test_nothing_is_removed_while_a_record_is_damaged(local: LocalStore, kind: str) -> None:
    made = finish(local, "merge", {"corpus": b"x"})
    publish(local, "run-1", 1.0, made)
    use(local, "run-1", made)
    local.pin("run-1", "")
    orphan = local.add_bytes(b"of nobody")
    (path,) = (local.root / kind).rglob("*.json")
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StoreError, match=r"damaged.*[Nn]othing was removed.*cache verify"):
        collect(local, NOW, delete=True)
    assert local.has_blob(orphan)
    verify(local)
    collect(local, NOW, delete=True)
    assert not local.has_blob(orphan)


def test_a_step_that_was_collected_can_be_made_again_in_the_same_process(local: LocalStore) -> None:
    first = finish(local, "merge", {"corpus": b"x"})
    local.append_log(first.key, 1, 1, 0, b"said\n")
    free(local)
    assert finish(local, "merge", {"corpus": b"x"}) == first
    local.append_log(first.key, 1, 1, 0, b"said\n")
    assert local.latest(first.key) == first
    assert local.read_blob(Blob(first.outputs["corpus"].digest, 1)) == b"x"
