"""Finds what is damaged, missing or strange in a store, and puts damaged files aside.

Every file is read but contents outside of a sample, of which presence and size are looked at. Memory grows
with the number of contents (some hundred bytes each), not with their size.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, TypeVar

from translations_assets.common.errors import StoreError
from translations_assets.records.encoding import DIFFERENT, original, seal_bytes, unseal_bytes
from translations_assets.records.manifest import Blob, Manifest, Pin, Ref
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Reading
from translations_assets.store.contents import digest_of_name
from translations_assets.store.durable import DurableStore
from translations_assets.store.medium import P
from translations_assets.store.problems import Damage, Id, Kind, find_owners, step_of
from translations_assets.store.records import GC_LOCK, RECORDS

LOST_PART = b"[store] this part of the log is lost\n"
_LOG_PART = re.compile(r"logs/[^/]+/\d+\.\d+/\d+")
_THREADS = 4

T = TypeVar("T")

Sample = int | float | None
Progress = Callable[[int, int], None]


@dataclass
class Verified:
    """Number of files checked, by kind, and the problems found."""

    checked: Counter[str] = field(default_factory=Counter)
    hashed_bytes: int = 0
    problems: list[Damage] = field(default_factory=list)


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
    `progress` is given the bytes that are hashed and those to hash. Raises StoreError while the garbage
    collector is at work, and when it may have begun meanwhile: it removes what this has seen named.
    """
    if not store.files.names(store.root):
        return Verified()
    with store.files.reserved(GC_LOCK) as mine:
        if not mine:
            raise StoreError(f"`translations cache gc` is running on the store {store}. Wait until it ends.")
        return _Verification(store, sample, seed, progress, base).run()


def draw(items: Sequence[T], sample: int | float, chance: random.Random) -> list[T]:
    """Draw a number of items, or a share of them, rounded up; in no order.

    >>> len(draw("abcdef", 0.5, random.Random(1)))
    3
    """
    number = math.ceil(sample * len(items)) if isinstance(sample, float) else sample
    return chance.sample(items, min(number, len(items)))


class _Verification(Generic[P]):
    """One pass over everything. `named` are the contents that must be there."""

    def __init__(
        self, store: DurableStore[P], sample: Sample, seed: int, progress: Progress, base: Reading | None
    ) -> None:
        self.store, self.files, self.progress, self.base = store, store.files, progress, base
        self.sample, self.random = sample, random.Random(seed)
        self.result = Verified()
        self.named: dict[bytes, int] = {}
        self.made: set[bytes] = set()  # by steps whose manifests are there, retired ones too
        self.placed: dict[bytes, int] = {}  # as inputs
        self.known: set[Id] = set()  # manifests that are there, or reported as missing
        self.remembered: dict[tuple[Id, str], tuple[str, str]] = {}  # (step, label) → its stage, a partition

    def run(self) -> Verified:
        self._manifests()
        self._records()
        self._logs()
        self._checkpoints()
        self._contents()
        self._strange()
        if self.result.problems:
            manifests = chain(self.store.manifests(), self.store.retired())
            find_owners(self.result.problems, manifests, self.remembered)
        return self.result

    # Manifests and what they name

    def _manifests(self) -> None:
        in_use, retired = self.store.manifest_files(), self.store.retired_files()
        for are_used, files in ((True, in_use), (False, retired)):
            for key, number, path, manifest in self.store.read_manifests(files):
                self.result.checked["manifests"] += 1
                if are_used:
                    self.known.add((key, number))
                if manifest:
                    self._manifest(manifest, are_used)
                elif self.files.size(path) is None:  # the store has put it aside
                    self._problem("damaged", path, "it is an incomplete manifest")
        self._name(Blob(name.hex(), size) for name, size in self.placed.items() if name not in self.made)

    def _manifest(self, manifest: Manifest, is_used: bool) -> None:
        self._name(manifest.origins())
        if is_used:
            self._name(manifest.outputs.values())
        self.made.update(bytes.fromhex(blob.digest) for blob in manifest.outputs.values())
        self.placed.update(_sizes_of(manifest.provenance.files.values()))

    def _name(self, blobs: Iterable[Blob]) -> None:
        self.named.update(_sizes_of(blobs))

    # Records

    def _records(self) -> None:
        pinned: list[Pin] = []
        runs: dict[str, Mapping[str, Id] | None] = {}
        for path, value in self.store.all_records((*RECORDS, "configs")):
            kind = path.relative_to(self.store.root).parts[0]
            self.result.checked[kind] += 1
            if isinstance(value, Exception):
                self._damaged(path, str(value))
                if kind == "runs":
                    runs[original(path.stem)] = None
            elif isinstance(value, Ref):
                self._ref(path, value)
            elif isinstance(value, Pin):
                pinned.append(value)
            elif isinstance(value, RunRecord):
                runs[value.run or path.stem] = value.uses
                for label, step in value.uses.items():
                    self.remembered.setdefault((step, label), ("", value.partition))
        for pin in sorted(pinned, key=lambda pin: pin.run):
            if pin.run not in runs:
                path = self.files.at("runs", f"{pin.run}.json")
                self._problem("missing", path, f"the run {pin.run} is pinned")
            kept = {used for label, used in (runs.get(pin.run) or {}).items() if label not in pin.gone}
            for key, number in sorted(kept - self.known):
                self._missing_manifest(key, number, f"the pinned run {pin.run} uses it")

    def _ref(self, path: P, ref: Ref) -> None:
        for label, (key, number) in ref.steps.items():
            self.remembered.setdefault(((key, number), label), (ref.stage, ref.partition))
            if (key, number) not in self.known:
                self._missing_manifest(key, number, f"{self._name_of(path)} names it for {label}")
        for blobs in ref.outputs.values():
            self._name(blobs.values())

    def _missing_manifest(self, key: str, number: int, reason: str) -> None:
        self.known.add((key, number))
        path = self.store.manifest_file(key, number)
        if self.files.size(path) is None and not (self.base and self.base.generation(key, number)):
            self._problem("missing", path, reason)

    # Logs and checkpoints

    def _logs(self) -> None:
        last: dict[P, int] = {}  # folder of an attempt's log → the number of its last part
        for path in self.files.walk(self.store.root / "logs"):
            if _LOG_PART.fullmatch(self._name_of(path)):
                last[path.parent] = max(int(path.name), last.get(path.parent, 0))
            else:
                self._problem("strange", path, "no part of a log has this name")
        for folder, number in last.items():
            for part in range(number + 1):
                self._log_part(folder / str(part))

    def _log_part(self, path: P) -> None:
        """A part that is lost gets a line in its place that says so: nothing can make it again."""
        self.result.checked["log parts"] += 1
        data = self.files.read(path)
        if data is None:
            self._problem("missing", path, "later parts of this log are there")
        elif not _is_sealed(data):
            self._damaged(path, DIFFERENT)
        else:
            return
        self.files.create(path, seal_bytes(LOST_PART))

    def _checkpoints(self) -> None:
        for key, number, folder in self.store.checkpoint_sets():
            self.result.checked["checkpoint sets"] += 1
            is_finished = (
                key,
                number,
            ) in self.known  # nobody reads its sets, whose files may have gone first
            if not is_finished and (wrong := self.store.wrong_in_set(folder)):
                self._damaged(folder, wrong)

    # Contents

    def _contents(self) -> None:
        """Compare what is there with what is named; re-hash what the sample asks for."""
        sizes = dict(self._sizes())
        chosen = [name for name in self._choose(sizes) if self.named.get(name, sizes[name]) == sizes[name]]
        total, done = sum(sizes[name] for name in chosen), 0
        with ThreadPoolExecutor(_THREADS) as pool:
            for start in range(0, len(chosen), 1000):
                part = chosen[start : start + 1000]
                for name, whole in zip(part, pool.map(self._is_blob_whole, part), strict=True):
                    if not whole:
                        self._damaged(self._blob(name), "its contents differ from its name")
                    done += sizes[name]
                    self.progress(done, total)
        self.result.checked["contents"] += len(sizes)
        self.result.checked["contents re-hashed"] += len(chosen)
        self.result.hashed_bytes = total
        for name, size in self.named.items():
            if name not in sizes:
                self._missing_blob(name, size)
            elif sizes[name] != size and self.files.size(self._blob(name)) is not None:
                self._damaged(self._blob(name), f"it has {sizes[name]} bytes instead of {size}")

    def _sizes(self) -> Iterator[tuple[bytes, int]]:
        for shard in self.store.blob_shards():
            if len(shard.name) != 2:
                self._problem("strange", shard, "no folder of contents has this name")
            for entry in sorted(self.files.entries(shard)):
                digest = digest_of_name(entry.name)
                if digest and entry.name[:2] == shard.name:
                    yield digest, entry.size
                else:
                    self._problem("strange", shard / entry.name, "no contents have this name")

    def _choose(self, sizes: dict[bytes, int]) -> list[bytes]:
        if self.sample is None:
            return list(sizes)
        return sorted(draw(list(sizes), self.sample, self.random))

    def _is_blob_whole(self, name: bytes) -> bool:
        found = self.files.digest(self._blob(name))  # None: another process has put it aside
        return found is not None and found.digest == name.hex()

    def _missing_blob(self, name: bytes, size: int) -> None:
        path = self._blob(name)
        elsewhere = self.base and self.base.has_blob(Blob(name.hex(), size))
        if self.files.size(path) is None and not elsewhere:
            self._problem("missing", path, f"contents of {size} bytes that are named")

    def _blob(self, name: bytes) -> P:
        return self.store.blob_file(name.hex())

    # Everything else

    def _strange(self) -> None:
        """Files that the store has not made, at the top and among the manifests."""
        if mark := self.files.damaged_mark():
            self._damaged(mark, "it has other contents; the next run makes it again")
        for name in sorted(self.files.names(self.store.root)):
            if name not in self.files.folders:
                self._problem("strange", self.store.root / name, "the store makes no file of this name")
        for path in self.files.foreign():
            self._problem("strange", path, "a symbolic link, which is not followed")
        for path in self.files.walk(self.store.root / "steps"):
            found = step_of(self._name_of(path))
            if found is None or path != self.store.manifest_file(*found[0]):
                self._problem("strange", path, "no manifest has this name")

    def _damaged(self, path: P, reason: str) -> None:
        self.files.set_aside(path, reason)
        self._problem("damaged", path, reason)

    def _problem(self, kind: Kind, path: P, reason: str) -> None:
        self.files.check_reserved()
        name = self._name_of(path)
        contents = path.name if name.startswith("blobs/") and kind != "strange" else ""
        self.result.problems.append(Damage(kind, name, reason, contents, aside=kind == "damaged"))

    def _name_of(self, path: P) -> str:
        return path.relative_to(self.store.root).as_posix()


def _sizes_of(blobs: Iterable[Blob]) -> dict[bytes, int]:
    return {bytes.fromhex(blob.digest): blob.size for blob in blobs}


def _is_sealed(data: bytes) -> bool:
    try:
        unseal_bytes(data)
    except ValueError:
        return False
    return True
