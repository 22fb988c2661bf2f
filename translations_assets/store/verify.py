"""Finds what is damaged, missing or strange in a store, and puts damaged files aside.

Every file is read but contents outside of a sample, of which presence and size are looked at. Memory grows
with the number of contents (some hundred bytes each), not with their size.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePosixPath
from typing import Any, Generic, Literal

from translations_assets.errors import StoreError
from translations_assets.records.manifest import Blob, Manifest, Pin, Ref
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Reading
from translations_assets.store.durable import DurableStore
from translations_assets.store.encoding import DIFFERENT, original, seal_bytes, unseal, unseal_bytes
from translations_assets.store.medium import P
from translations_assets.store.records import GC_LOCK

LOST_PART = b"[store] this part of the log is lost\n"
_THREADS = 4

Sample = int | float | None
Progress = Callable[[int, int], None]
Kind = Literal["damaged", "missing", "strange"]
Role = Literal["output", "origin", "manifest", "log", "checkpoint set"]


@dataclass(frozen=True)
class Owner:
    """The step that a file belongs to, and what the file is to it.

    name        of the output, or what the file is
    repeatable  None when that was not recorded
    """

    label: str
    stage: str
    partition: str
    role: Role
    name: str
    repeatable: bool | None = None

    def remedy(self) -> str:
        """What becomes of the step, and what to do."""
        train = f"translations train {self.partition or 'PARTITION'}"
        if self.role == "log":
            return "nothing is to do: its files are whole"
        if self.role == "checkpoint set":
            return f"it goes on from the set before: {train}"
        if self.role == "origin":
            return "its files are whole, but it cannot be repeated from what the store keeps"
        if self.role == "manifest":
            return (
                "the next run that needs it makes it again, if its bytes can be repeated; else it is lost: "
                f"{train} --repair"
            )
        if self.repeatable is None:
            return f"the next run that needs it makes it again, or tells that it is lost: {train}"
        if self.repeatable:
            return f"the next run that needs it makes it again: {train}"
        return f"lost, unless all that was made from it is whole; to make it again: {train} --repair"


@dataclass
class Problem:
    """A file that is damaged, missing or strange.

    contents  the digest, when the file is in `blobs/`
    aside     whether it was put aside in `quarantine/`
    """

    kind: Kind
    path: str
    reason: str
    contents: str = ""
    aside: bool = False
    owners: list[Owner] = field(default_factory=list)


def name_owners(store: DurableStore[P], problems: Sequence[Problem]) -> None:
    """Add to each problem the steps that it concerns; reads all manifests when there is one."""
    if problems:
        _Search(store, problems).run()


class _Search(Generic[P]):
    def __init__(self, store: DurableStore[P], problems: Sequence[Problem]) -> None:
        self.store = store
        self.by_contents = {problem.contents: problem for problem in problems if problem.contents}
        self.by_step: dict[tuple[str, int], list[Problem]] = {}
        for problem in problems:
            if name := _step_of(problem.path):
                self.by_step.setdefault(name, []).append(problem)
        self.placed: dict[str, list[Owner]] = {}

    def run(self) -> None:
        for manifest in chain(self.store.manifests(), self.store.retired()):
            self._manifest(manifest)
        for digest, owners in self.placed.items():  # files of the repository: no step makes them
            problem = self.by_contents[digest]
            problem.owners = problem.owners or owners
        self._unknown()

    def _manifest(self, manifest: Manifest) -> None:
        for name, blob in manifest.outputs.items():
            if problem := self.by_contents.get(blob.digest):
                problem.owners.append(_owner(manifest, "output", name))
        for name, blob in zip(("its code", "its training config"), manifest.origins(), strict=False):
            if problem := self.by_contents.get(blob.digest):
                problem.owners.append(_owner(manifest, "origin", name))
        for path, blob in manifest.files().items():
            if blob.digest in self.by_contents:
                self.placed.setdefault(blob.digest, []).append(_owner(manifest, "origin", f"in/{path}"))
        for problem in self.by_step.get((manifest.key, manifest.generation), ()):
            role = _role(problem.path)
            problem.owners.append(_owner(manifest, role, f"its {role}"))

    def _unknown(self) -> None:
        """Steps without a manifest: refs and runs remember labels."""
        for name, label, stage, partition in self._remembered():
            for problem in self.by_step.get(name, ()):
                role = _role(problem.path)
                owner = Owner(label, stage, partition, role, f"its {role}")
                if all(known.label != label for known in problem.owners):
                    problem.owners.append(owner)

    def _remembered(self) -> Iterator[tuple[tuple[str, int], str, str, str]]:
        if not self.by_step:
            return
        for refs in self.store.ref_files():
            for _, ref in refs:
                for label, name in ref.steps.items():
                    yield name, label, ref.stage, ref.partition
        for run in self.store.runs():
            if record := self.store.read_run(run):
                yield from ((used, label, "", record.partition) for label, used in record.uses.items())


def _owner(manifest: Manifest, role: Role, name: str) -> Owner:
    provenance = manifest.provenance
    partition = str(provenance.get("partition", ""))
    return Owner(manifest.label, manifest.stage, partition, role, name, provenance.get("repeatable"))


def _role(path: str) -> Role:
    return {"logs": "log", "checkpoints": "checkpoint set"}.get(path.split("/")[0], "manifest")  # type: ignore[return-value]


def _step_of(path: str) -> tuple[str, int] | None:
    """Key and generation of the step that a manifest, log part or checkpoint set is of."""
    parts = PurePosixPath(path).parts
    if parts[0] == "steps" and len(parts) == 4:
        key, number = parts[2], parts[3].removesuffix(".json")
    elif parts[0] == "retired" and len(parts) == 2:
        key, _, number = parts[1].removesuffix(".json").rpartition(".")
    elif parts[0] in ("logs", "checkpoints") and len(parts) == 4:
        key, number = parts[1], parts[2].partition(".")[0]
    else:
        return None
    return (original(key), int(number)) if number.isdecimal() else None


@dataclass
class Verified:
    """What was looked at, by kind of file, and what was found."""

    checked: dict[str, int] = field(default_factory=dict)
    hashed_bytes: int = 0
    problems: list[Problem] = field(default_factory=list)


def verify(
    store: DurableStore[P],
    *,
    sample: Sample = None,
    seed: int = 0,
    progress: Progress = lambda done, total: None,
    base: Reading | None = None,
) -> Verified:
    """Check every file; of the contents re-hash all, or a sample: a number of them, or a share below 1.

    What the store's base has, the store need not have (`OverlayStore`); the base is not looked through.
    `progress` is told bytes that are hashed and bytes to hash. Raises StoreError while the garbage collector
    is at work.
    """
    if not store.files.names(store.root):
        return Verified()
    with store.files.reserved(GC_LOCK) as mine:
        if not mine:
            raise StoreError(f"`translations cache gc` is at work on the store {store}. Wait for its end.")
        return _Verification(store, sample, seed, progress, base).run()


def damaged_records(store: DurableStore[P]) -> list[Problem]:
    """The refs, runs and pins that are damaged; nothing is put aside."""
    return [problem for _, _, problem in _records(store) if problem]


def _records(store: DurableStore[P]) -> Iterator[tuple[P, Any, Problem | None]]:
    """Each ref, run and pin: its path, and what it says or what is wrong with it."""
    parsers: dict[str, Callable[[dict[str, Any]], Any]] = {
        "refs": Ref.from_dict,
        "runs": RunRecord.from_dict,
        "pins": Pin.from_dict,
    }
    for kind, parse in parsers.items():
        for path, data in store.files.read_all(store.files.walk(store.root / kind)):
            if data is None:
                continue
            try:
                yield path, parse(unseal(data)), None
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                name = path.relative_to(store.root).as_posix()
                yield path, None, Problem("damaged", name, str(error))


class _Verification(Generic[P]):
    """One look at everything. `named` are the contents that must be there."""

    def __init__(
        self, store: DurableStore[P], sample: Sample, seed: int, progress: Progress, base: Reading | None
    ) -> None:
        self.store, self.files, self.progress, self.base = store, store.files, progress, base
        self.sample, self.random = sample, random.Random(seed)
        self.result = Verified()
        self.named: dict[bytes, int] = {}
        self.made: set[bytes] = set()  # by steps whose manifests are there, retired ones too
        self.placed: dict[bytes, int] = {}  # as inputs
        self.known: set[tuple[str, int]] = set()  # manifests that are there, or told to be missing

    def run(self) -> Verified:
        self._manifests()
        self._records()
        self._configs()
        self._logs()
        self._checkpoints()
        self._contents()
        self._strange()
        name_owners(self.store, self.result.problems)
        return self.result

    # Manifests and what they name

    def _manifests(self) -> None:
        for key, number, path, made in self.store.read_manifests(self.store.manifest_files()):
            if manifest := self._manifest(path, made):
                self._name(manifest.outputs.values())
            self.known.add((key, number))
        for _, _, path, made in self.store.read_manifests(self.store.retired_files()):
            self._manifest(path, made)
        self._name(Blob(name.hex(), size) for name, size in self.placed.items() if name not in self.made)

    def _manifest(self, path: P, manifest: Manifest | None) -> Manifest | None:
        self._count("manifests")
        if manifest is None:
            if self.files.size(path) is None:  # the store has put it aside
                self._problem("damaged", path, "it is no whole manifest", aside=True)
            return None
        self._name(manifest.origins())
        self.made.update(bytes.fromhex(blob.digest) for blob in manifest.outputs.values())
        self.placed.update({bytes.fromhex(blob.digest): blob.size for blob in manifest.files().values()})
        return manifest

    def _name(self, blobs: Iterable[Blob]) -> None:
        self.named.update({bytes.fromhex(blob.digest): blob.size for blob in blobs})

    # Records

    def _records(self) -> None:
        pinned: set[str] = set()
        runs: dict[str, set[tuple[str, int]]] = {}
        for path, value, problem in _records(self.store):
            kind = path.relative_to(self.store.root).parts[0]
            self._count(kind)
            if problem:
                self._aside(problem, path)
            elif isinstance(value, Ref):
                self._ref(path, value)
            elif isinstance(value, Pin):
                pinned.add(value.run)
            else:
                runs[value.run or path.stem] = set(value.uses.values())
        for run in sorted(pinned):
            self._pinned(run, runs.get(run))

    def _ref(self, path: P, ref: Ref) -> None:
        for label, (key, number) in ref.steps.items():
            if (key, number) not in self.known:
                self._missing_manifest(
                    key, number, f"{path.relative_to(self.store.root)} names it for {label}"
                )
        for blobs in ref.outputs.values():
            self._name(blobs.values())

    def _pinned(self, run: str, uses: set[tuple[str, int]] | None) -> None:
        path = self.files.at("runs", f"{run}.json")
        if uses is None and all(problem.path != self._name_of(path) for problem in self.result.problems):
            self._problem("missing", path, f"the run {run} is pinned")
        for key, number in sorted((uses or set()) - self.known):
            self._missing_manifest(key, number, f"the pinned run {run} uses it")

    def _missing_manifest(self, key: str, number: int, reason: str) -> None:
        self.known.add((key, number))
        path = self.store.manifest_file(key, number)
        if self.files.size(path) is None and not (self.base and self.base.generation(key, number)):
            self._problem("missing", path, reason)

    def _configs(self) -> None:
        for path in self.files.walk(self.store.root / "configs"):
            self._count("configs")
            if not _is_whole(self.files.read(path)):
                self._aside(Problem("damaged", self._name_of(path), DIFFERENT), path)

    # Logs and checkpoints

    def _logs(self) -> None:
        for log in self.store.logs():
            folder = self.store.log_folder(*log)
            parts = sorted(int(name) for name in self.files.names(folder) if name.isdecimal())
            for number in range(parts[-1] + 1 if parts else 0):
                self._log_part(folder / str(number))

    def _log_part(self, path: P) -> None:
        """A part that is lost gets a line in its place that says so: nothing can make it again."""
        self._count("log parts")
        data = self.files.read(path)
        if data is None:
            self._problem("missing", path, "later parts of this log are there")
        elif not _is_whole(data):
            self._aside(Problem("damaged", self._name_of(path), DIFFERENT), path)
        else:
            return
        self.files.create(path, seal_bytes(LOST_PART))

    def _checkpoints(self) -> None:
        for _, _, folder in self.store.checkpoint_sets():
            self._count("checkpoint sets")
            wrong = self.store.wrong_in_set(folder)
            if wrong:
                self._aside(Problem("damaged", self._name_of(folder), wrong), folder)

    # Contents

    def _contents(self) -> None:
        """Compare what is there with what is named; re-hash what the sample asks for."""
        sizes = dict(self._sizes())
        chosen = self._choose(sizes)
        total, done = sum(sizes[name] for name in chosen), 0
        with ThreadPoolExecutor(_THREADS) as pool:
            for start in range(0, len(chosen), 1000):
                part = chosen[start : start + 1000]
                for name, whole in zip(part, pool.map(self._is_blob_whole, part), strict=True):
                    if not whole:
                        self._damaged_blob(name, "its contents differ from its name")
                    done += sizes[name]
                    self.progress(done, total)
        self._count("contents", len(sizes))
        self._count("contents re-hashed", len(chosen))
        self.result.hashed_bytes = total
        for name, size in self.named.items():
            if name not in sizes:
                self._missing_blob(name, size)
            elif sizes[name] != size and self.files.size(self._blob(name)) is not None:
                self._damaged_blob(name, f"it has {sizes[name]} bytes instead of {size}")

    def _sizes(self) -> Iterator[tuple[bytes, int]]:
        for shard in self.store.blob_shards():
            for entry in sorted(self.files.entries(shard)):
                if _is_digest(entry.name) and entry.name[:2] == shard.name:
                    yield bytes.fromhex(entry.name), entry.size
                else:
                    self._problem("strange", shard / entry.name, "no contents have this name")

    def _choose(self, sizes: dict[bytes, int]) -> list[bytes]:
        if self.sample is None:
            return list(sizes)
        number = math.ceil(self.sample * len(sizes)) if isinstance(self.sample, float) else self.sample
        return sorted(self.random.sample(list(sizes), min(number, len(sizes))))

    def _is_blob_whole(self, name: bytes) -> bool:
        found = self.files.digest(self._blob(name))  # None: another process has put it aside
        return found is not None and found.digest == name.hex()

    def _damaged_blob(self, name: bytes, reason: str) -> None:
        path = self._blob(name)
        self._aside(Problem("damaged", self._name_of(path), reason, contents=name.hex()), path)

    def _missing_blob(self, name: bytes, size: int) -> None:
        path = self._blob(name)
        elsewhere = self.base and self.base.has_blob(Blob(name.hex(), size))
        if self.files.size(path) is None and not elsewhere:
            reason = f"contents of {size} bytes that are named"
            self.result.problems.append(Problem("missing", self._name_of(path), reason, contents=name.hex()))

    def _blob(self, name: bytes) -> P:
        return self.store.blob_file(name.hex())

    # Everything else

    def _strange(self) -> None:
        """Files that the store has not made, at the top and among the manifests."""
        if mark := self.files.damaged_mark():
            reason = "it has other contents; the next run makes it again"
            self._aside(Problem("damaged", mark.name, reason), mark)
        for name in sorted(self.files.names(self.store.root)):
            if name not in self.files.folders:
                self._problem("strange", self.store.root / name, "the store makes no file of this name")
        for path in self.files.foreign():
            self._problem("strange", path, "a symbolic link: nothing behind it is looked at or touched")
        known = {path for _, _, path in self.store.manifest_files()}
        for path in self.files.walk(self.store.root / "steps"):
            if path not in known:
                self._problem("strange", path, "no manifest has this name")

    def _problem(self, kind: Kind, path: P, reason: str, aside: bool = False) -> None:
        self.result.problems.append(Problem(kind, self._name_of(path), reason, aside=aside))

    def _aside(self, problem: Problem, path: P) -> None:
        self.files.set_aside(path, problem.reason)
        problem.aside = True
        self.result.problems.append(problem)

    def _name_of(self, path: P) -> str:
        return path.relative_to(self.store.root).as_posix()

    def _count(self, kind: str, number: int = 1) -> None:
        self.result.checked[kind] = self.result.checked.get(kind, 0) + number


def _is_whole(data: bytes | None) -> bool:
    try:
        unseal_bytes(data or b"")
    except ValueError:
        return data is None
    return True


def _is_digest(name: str) -> bool:
    return len(name) == 64 and set(name) <= set("0123456789abcdef")
