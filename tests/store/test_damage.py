"""A power cut may truncate, change or take any file of a store: found, never used, healed by a new run."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.store.values import KEY, finish, publish
from translations_assets.common.errors import DamagedError, StoreError
from translations_assets.records.canonical import json_digest
from translations_assets.records.manifest import Blob, Manifest, Publication
from translations_assets.records.retention import Rules
from translations_assets.records.run import RunRecord
from translations_assets.store.gc import collect
from translations_assets.store.local import LocalStore
from translations_assets.store.problems import Damage
from translations_assets.store.verify import Verified, verify

RELEASED = "file:///released"
LOG = [b"first part\n", b"second part\n", b"third part\n"]


def empty(path: Path) -> None:
    """Truncate a file to nothing."""
    path.chmod(0o644)
    path.write_bytes(b"")


def halve(path: Path) -> None:
    """Truncate a file to its first half."""
    path.chmod(0o644)
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    """Change one byte in the middle of a file."""
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


WAYS: dict[str, Callable[[Path], None]] = {
    "emptied": empty,
    "halved": halve,
    "flipped": flip,
    "deleted": lambda path: path.unlink(),
}


@dataclass(frozen=True)
class Filled:
    """A run's files in a store: one of every kind."""

    store: LocalStore
    dataset: Manifest
    merged: Manifest
    teacher: Manifest
    sets: Path

    def path(self, kind: str) -> Path:
        """The file of a kind."""
        root, key = self.store.root, self.merged.key
        sets = root / "checkpoints" / KEY / "1" / "000200"
        return {
            "output": self.store.blob_file(self.merged.outputs["corpus"].digest),
            "output that cannot be repeated": self.store.blob_file(self.teacher.outputs["model"].digest),
            "code": self.store.blob_file(self.merged.bundle.digest),
            "training config": self.store.blob_file([*self.merged.origins()][1].digest),
            "repository file": self.store.blob_file(self.merged.provenance.files["rules/r.txt"].digest),
            "manifest": root / "steps" / key[:2] / key / "1.json",
            "retired manifest": root / "retired" / f"{self.dataset.key}.1.json",
            "ref": root / "refs" / "ann%2Fmain" / "en-ru" / "merge_corpus" / "run-1.json",
            "run": root / "runs" / "run-1.json",
            "pin": root / "pins" / "run-1.json",
            "publication": root / "publications" / f"{json_digest([self.teacher.key, 1, RELEASED])}.json",
            "pasted config": root / "configs" / "en-ru.pasted.yml",
            "log": root / "logs" / key / "1.1" / "1",
            "checkpoint": sets / "files" / "model.npz",
            "checkpoint manifest": sets / "set.json",
            "format": root / "store.json",
        }[kind]

    def shows(self, kind: str) -> Path:
        """The file at which it shows that a file of a kind was deleted."""
        if kind == "retired manifest":  # nothing tells any more how this input was made
            return self.store.blob_file(self.dataset.outputs["text"].digest)
        return self.path(kind)

    def use(self, kind: str, folder: Path, place: bool = False) -> bool:
        """True if a reader is given the file's contents; of contents, read or to be placed."""
        store = self.store
        if kind in CONTENTS:
            blob = self._blob(self.path(kind).name)
            if place:
                return _is_given(lambda: store.place_blob(blob, folder / "placed"))
            return _is_given(lambda: store.read_blob(blob))
        if kind == "log":
            return LOG[1] in list(store.read_log(self.merged.key, 1, 1))
        if kind.startswith("checkpoint"):
            return "000200" in store.place_checkpoints(KEY, 1, folder)
        readers: dict[str, Callable[[], object]] = {
            "manifest": lambda: store.latest(self.merged.key),
            "retired manifest": lambda: store.read_retired(self.dataset.key, 1),
            "ref": lambda: store.refs("ann/main", "en-ru", "merge_corpus"),
            "run": lambda: store.read_run("run-1"),
            "pin": store.pins,
            "publication": store.publications,
            "pasted config": lambda: store.config("en-ru.pasted"),
        }
        return bool(readers[kind]())

    def _blob(self, digest: str) -> Blob:
        named = [*self.merged.origins(), *self.merged.provenance.files.values()]
        named += [*self.merged.outputs.values(), *self.teacher.outputs.values()]
        return next(blob for blob in named if blob.digest == digest)


def _is_given(read: Callable[[], object]) -> bool:
    try:
        read()
    except DamagedError:
        return False
    return True


CONTENTS = ("output", "output that cannot be repeated", "code", "training config", "repository file")
KINDS = (
    *CONTENTS,
    *("manifest", "retired manifest", "ref", "run", "pin", "publication", "pasted config"),
    *("log", "checkpoint", "checkpoint manifest", "format"),
)
# Of these nothing else in the store tells that they were there. A checkpoint set without its manifest is that
# of a writer that was killed; the format is written again by whoever opens the store.
WITHOUT_TRACE = {"ref", "pin", "publication", "pasted config", "checkpoint manifest", "format"}


def run(store: LocalStore, sets: Path) -> Filled:
    """Do the work of a run; a second call makes what is missing."""
    rules = store.add_bytes(b"rules of the repository")
    dataset = finish(store, "dataset", {"text": b"d" * 500}, stage="dataset_train")
    merged = finish(
        store,
        "merged",
        {"corpus": b"m" * 600},
        {"text/text": dataset.outputs["text"], "rules/r.txt": rules},
        ended=time.time(),
    )
    teacher = finish(
        store,
        "teacher",
        {"model": b"t" * 700},
        {"text/corpus": merged.outputs["corpus"]},
        stage="train_teacher",
        repeatable=False,
        ended=time.time(),
    )
    if not store.refs("ann/main", "en-ru", "merge_corpus"):
        publish(store, "run-1", time.time(), merged)
    uses = {made.label: (made.key, 1) for made in (merged, teacher)}
    store.write_run("run-1", RunRecord("run-1", "en-ru", ended=time.time(), uses=uses))
    if not store.pins():
        store.pin("run-1", "")
    store.add_publication(Publication(teacher.key, 1, RELEASED, 1.0))
    store.add_config("en-ru.pasted", "experiment: {src: en, trg: ru}\n")
    for number, part in enumerate(LOG):
        if not (store.root / "logs" / merged.key / "1.1" / str(number)).exists():
            store.append_log(merged.key, 1, 1, number, part)
    for name in ("000100", "000200"):
        folder = sets / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.npz").write_text(f"the model of {name}")
        store.add_checkpoint(KEY, 1, name, folder)
    return Filled(store, dataset, merged, teacher, sets)


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A store with a file of every kind, that is whole; nobody writes it."""
    folder = tmp_path_factory.mktemp("master")
    filled = run(LocalStore(folder / "store"), folder / "sets")
    collect(filled.store, Rules(keep_days=1, keep_refs=1, grace_days=0), delete=True)
    assert not filled.store.has_blob(filled.dataset.outputs["text"])
    assert verify(filled.store).problems == []
    return filled


@pytest.fixture
def filled(master: Filled, tmp_path: Path) -> Filled:
    """A copy of it."""
    shutil.copytree(master.store.root, tmp_path / "store")
    return replace(master, store=LocalStore(tmp_path / "store"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("kind", "place"),
    [*((kind, False) for kind in KINDS if kind != "format"), *((kind, True) for kind in CONTENTS)],
)
def test_damage_is_never_used(filled: Filled, kind: str, place: bool, way: str, tmp_path: Path) -> None:
    (tmp_path / "before").mkdir()
    assert filled.use(kind, tmp_path / "before", place), "it is given while it is whole"
    WAYS[way](filled.path(kind))
    (tmp_path / "after").mkdir()
    again = replace(filled, store=LocalStore(filled.store.root))
    assert not again.use(kind, tmp_path / "after", place)
    assert not (tmp_path / "after" / "placed").exists()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_found_named_and_healed(filled: Filled, kind: str, way: str, tmp_path: Path) -> None:
    path = filled.path(kind)
    whole = path.read_bytes()
    WAYS[way](path)
    store = LocalStore(filled.store.root)
    found = problems_at(store, filled.shows(kind) if way == "deleted" else path)
    if way == "deleted" and kind in WITHOUT_TRACE:
        assert found == []
    else:
        (problem,) = found
        assert problem.kind == ("missing" if way == "deleted" and kind != "checkpoint" else "damaged")
        assert problem.aside == (problem.kind == "damaged")
        assert {owner.label for owner in problem.owners} == OWNERS.get(kind, set()) | (
            {"merged"} if (kind, way) == ("retired manifest", "deleted") else set()
        )
    run(store, filled.sets)
    assert verify(LocalStore(filled.store.root)).problems == []
    (tmp_path / "healed").mkdir()
    if kind == "format":
        assert path.read_bytes() == whole
    elif kind not in ("retired manifest", "log"):
        assert replace(filled, store=store).use(kind, tmp_path / "healed")


OWNERS = {
    "output": {"merged"},
    "output that cannot be repeated": {"teacher"},
    "code": {"merged"},
    "training config": {"merged", "teacher", "dataset"},
    "repository file": {"merged"},
    "manifest": {"merged"},
    "retired manifest": set[str](),
    "log": {"merged"},
}


def problems_at(store: LocalStore, path: Path) -> list[Damage]:
    """Problems that a verification finds in a file, or in its checkpoint set."""
    name = path.relative_to(store.root).as_posix()
    return [
        problem
        for problem in verify(store).problems
        if name == problem.path or name.startswith(problem.path + "/")
    ]


@pytest.mark.parametrize("part", range(len(LOG)))
def test_damage_is_found_in_any_part_of_a_log(filled: Filled, part: int) -> None:
    flip(filled.store.log_folder(filled.merged.key, 1, 1) / str(part))
    (problem,) = verify(filled.store).problems
    assert problem.path.endswith(f"/1.1/{part}")
    assert verify(filled.store).problems == []
    assert b"is lost" in [*filled.store.read_log(filled.merged.key, 1, 1)][part]


def test_what_becomes_of_a_step_is_told(filled: Filled) -> None:
    for kind in ("output", "output that cannot be repeated", "code", "manifest", "log"):
        flip(filled.path(kind))
    told = {
        (owner.label, owner.name): owner.remedy()
        for problem in verify(filled.store).problems
        for owner in problem.owners
    }
    assert told["merged", "its manifest"].startswith("the next run that needs it makes it again")
    assert told["teacher", "model"].endswith("to make it again: translations train en-ru --repair")
    assert told["merged", "its log"].startswith("nothing to do")
    run(filled.store, filled.sets)
    flip(filled.path("output"))
    (problem,) = verify(filled.store).problems
    assert [owner.remedy() for owner in problem.owners] == [
        "the next run that needs it makes it again: translations train en-ru"
    ]


def test_damaged_contents_heal_when_they_are_stored_again(local: LocalStore, tmp_path: Path) -> None:
    """Also those whose size is right, and that nobody has looked at since."""
    file = tmp_path / "file"
    file.write_bytes(b"an output")
    ways: list[Callable[[], Blob]] = [lambda: local.add_bytes(b"an output"), lambda: local.add_blob(file)]
    for store in ways:
        blob = store()
        flip(local.blob_file(blob.digest))
        store()
        assert local.read_blob(blob) == b"an output"


def test_a_sample_finds_what_is_missing_and_is_repeated_by_its_seed(
    local: LocalStore, tmp_path: Path
) -> None:
    for number in range(20):
        finish(local, f"step {number}", {"out": b"%d" % number * 50})
    blobs = sorted(path for path in (local.root / "blobs").rglob("*") if path.is_file())
    assert len(blobs) == 22
    blobs[4].unlink()
    for path in blobs[5:]:
        flip(path)

    def found(sample: int | float, seed: int) -> set[str]:
        copy = tmp_path / f"{sample} {seed} {len(list(tmp_path.iterdir()))}"
        shutil.copytree(local.root, copy)
        verified = verify(LocalStore(copy), sample=sample, seed=seed)
        assert [p.path for p in verified.problems if p.kind == "missing"] == [
            blobs[4].relative_to(local.root).as_posix()
        ]
        chosen = verified.checked["contents re-hashed"]
        assert chosen == min(21, sample if isinstance(sample, int) else 11)
        damaged = {problem.path for problem in verified.problems if problem.kind == "damaged"}
        assert len(damaged) >= chosen - 4
        return damaged

    assert found(0, 1) == set()
    assert found(100, 1) == {path.relative_to(local.root).as_posix() for path in blobs[5:]}
    assert found(0.5, 1) == found(0.5, 1)
    assert len({frozenset(found(5, seed)) for seed in range(4)}) > 1


def test_a_wrong_size_is_found_without_reading_the_contents(local: LocalStore) -> None:
    made = finish(local, "step", {"out": b"an output"})
    path = local.blob_file(made.outputs["out"].digest)
    halve(path)
    (problem,) = verify(local, sample=0).problems
    assert (problem.kind, problem.path) == ("damaged", path.relative_to(local.root).as_posix())
    assert problem.reason == "it has 4 bytes instead of 9"
    assert not path.exists(), "it was put aside"


def test_strange_files_are_named_and_left(local: LocalStore) -> None:
    made = finish(local, "step", {"out": b"x"})
    folder = f"steps/{made.key[:2]}"
    strange = {"notes.txt", "steps/a.txt", f"{folder}/b.txt", f"{folder}/{made.key}/1.json.orig"}
    strange |= {"blobs/c.txt", "blobs/ab/abcd"}
    strange |= {"logs/d.txt", f"logs/{made.key}/e.txt"}
    for name in strange:
        (local.root / name).parent.mkdir(parents=True, exist_ok=True)
        (local.root / name).write_text("somebody's")
    verified: Verified = verify(local)
    assert {(problem.kind, problem.path) for problem in verified.problems} == {
        ("strange", name) for name in strange
    }
    collect(local, Rules(), delete=True)
    assert all((local.root / name).exists() for name in strange)


def test_a_disk_that_fills_up_at_any_moment_of_a_commit(
    local: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th thing that needs space fails, for each n: a clear error, a whole store; then it goes on."""
    finish(local, "earlier", {"out": b"earlier"})
    left, fsync, link = [0], os.fsync, os.link

    def spend() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full_fsync(descriptor: int) -> None:
        spend()
        fsync(descriptor)

    def full_link(source: Path, target: Path) -> None:
        spend()
        link(source, target)

    monkeypatch.setattr(os, "fsync", full_fsync)
    monkeypatch.setattr(os, "link", full_link)
    failures = 0
    for number in range(100):
        left[0] = number
        message = failure(
            lambda: finish(LocalStore(local.root), "step", {"out": b"much", "stats.json": b"{}"})
        )
        left[0] = 1000
        assert verify(local).problems == []
        if not message:
            break
        failures += 1
        assert "No space left" in message
        assert "Free some space, then run again" in message
    assert failures > 10
    assert {made.label for made in local.manifests()} == {"earlier", "step"}


def failure(action: Callable[[], object]) -> str:
    """Message of a StoreError, nothing when there is none."""
    try:
        action()
    except StoreError as error:
        return str(error)
    return ""
