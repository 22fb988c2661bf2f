"""The garbage collector of a store: removes what the rules of `records.retention` do not keep.

Writers and readers are not harmed meanwhile, on whatever machine:

* A manifest is first retired: it moves to `retired/`, where no look-up finds it. Then the records are read
  again, and what a run, ref or pin names by now is restored. While a run goes on that began before, and may
  have found the manifest, its files stay, too, and the run restores what it publishes (`add_ref`).
* Contents are removed under a lock that shuts out all who rely on contents that were there (`Artifacts`), and
  only when they were not touched since the manifests were read. A commit touches what it names.
"""

from __future__ import annotations

import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Manifest
from translations_assets.records.retention import Retention, Rules
from translations_assets.store.contents import digest_of_name
from translations_assets.store.durable import DurableStore
from translations_assets.store.medium import P, StoredFile
from translations_assets.store.records import GC_LOCK

NO_STEP = "(of no step)"  # contents that no manifest names: their writer was killed, or the step failed
_CLOCKS_SECONDS = 600.0  # by which two machines' clocks may differ
_ASIDE = re.compile(r"\.(\d{15,})(?:\.reason\.json)?$")

_THREADS = 8
_AT_A_TIME = 10  # items that a thread is given at once: handing one over costs as much as removing it

T = TypeVar("T")
R = TypeVar("R")
Id = tuple[str, int]  # key and generation


@dataclass
class Share:
    """A number of artifacts (or files) and their bytes."""

    count: int = 0
    bytes: int = 0

    def add(self, count: int, size: int) -> None:
        """Count more."""
        self.count += count
        self.bytes += size


@dataclass
class Collected:
    """Files that were freed, or would be.

    stages   of each stage, how many artifacts are no longer kept, and the bytes of contents that are freed
    rest     the same for files of other kinds: logs, checkpoint sets, quarantine, refs, runs
    later    contents that nothing names any more, and that a later collection frees: a run that goes on may
             use them, or they were stored or found within the days of grace
    kept     artifacts and contents that stay
    """

    deleted: bool
    stages: dict[str, Share] = field(default_factory=dict)
    rest: dict[str, Share] = field(default_factory=dict)
    later: Share = field(default_factory=Share)
    kept: Share = field(default_factory=Share)
    running: list[str] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)

    def total(self) -> Share:
        """The artifacts that are no longer kept, and all bytes that are freed."""
        shares = self.stages.values()
        freed = sum(share.bytes for share in (*shares, *self.rest.values()))
        return Share(sum(share.count for share in shares), freed)


def collect(store: DurableStore[P], rules: Rules, *, delete: bool) -> Collected:
    """Free what the rules do not keep; without `delete` only find out what that would be.

    Raises StoreError, and removes nothing, when another collection is at work, or when a record or manifest
    is damaged: what it kept is not known.
    """
    with ThreadPoolExecutor(_THREADS) as pool:
        collection = _Collection(store, rules, pool, delete)
        if not delete:
            return collection.run()
        with store.files.reserved(GC_LOCK, alone=True) as alone:
            if not alone:
                raise StoreError(
                    "Another `translations cache gc`, `verify` or `pin` is running on the store "
                    f"{store}. Wait until it ends."
                )
            return collection.run()


class _Facts(NamedTuple):
    """The part of a manifest that a collection needs: digests of outputs, of code and config, of inputs."""

    stage: str
    outputs: tuple[bytes, ...]
    origins: tuple[bytes, ...]
    inputs: tuple[bytes, ...]


@dataclass(frozen=True)
class _Roots(Generic[P]):
    """Things kept by records: manifests, contents that refs name, and what the rules say of the rest."""

    manifests: set[Id]
    contents: set[bytes]
    old_refs: list[P]
    retention: Retention


class _Collection(Generic[P]):
    """One run of the collector. `reached` are the digests of the contents that stay."""

    def __init__(self, store: DurableStore[P], rules: Rules, pool: ThreadPoolExecutor, delete: bool) -> None:
        self.store, self.files, self.rules, self.pool, self.delete = store, store.files, rules, pool, delete
        self.result = Collected(deleted=delete)
        self.kept: set[Id] = set()
        self.reached: set[bytes] = set()
        self.held: set[bytes] = set()  # those that stay for as long as some run goes on
        self.wanted: set[bytes] = set()  # inputs of what is kept or held
        self.explained: set[bytes] = set()  # outputs of what is kept that it did not only pass on
        self.garbage: dict[Id, _Facts] = {}
        self.half_retired: list[Id] = []  # by a collection that was ended, and kept by this one
        self.retired: dict[Id, float] = {}  # those of an earlier collection, and when that was
        self.owner: dict[bytes, Id] = {}  # digest → one of the manifests that name it
        self.freed: set[Id] = set()  # manifests that are removed now, or some of their contents

    def run(self) -> Collected:
        self._refuse_damage()
        mark = self.files.mark_time() if self.delete else time.time_ns()
        roots = self._read_roots()
        self._read_manifests(roots)
        self.result.rest["refs"] = Share(len(roots.old_refs))
        if self.delete:
            roots = self._retire(roots)
        self._restore(roots)
        held = self._held(roots)
        needed = self._settle(held)
        since = min(mark / 1e9, roots.retention.since)
        self._sweep_logs(held, since)  # before the manifests: one that is missing, with a log, counts as lost
        if self.delete:
            self._forget_retired(needed | held)
            self._sync()
        self._sweep_contents(min(mark, int(roots.retention.untouched_since * 1e9)))
        self._sweep_checkpoints(since)
        self._sweep_quarantine(since)
        self._sweep_runs(roots.retention)
        return self._summary(roots)

    def _refuse_damage(self) -> None:
        damaged = [path for path, value in self.store.all_records() if isinstance(value, Exception)]
        if damaged:
            raise StoreError(
                f"{damaged[0].relative_to(self.store.root)} in the store {self.store} is damaged"
                + (f", as are {len(damaged) - 1} more records" if damaged[1:] else "")
                + ": the results that it keeps are unknown, so nothing was removed. To move damaged files to "
                "quarantine: translations cache verify"
            )

    def _read_roots(self) -> _Roots[P]:
        store = self.store
        runs = {run: record for run in store.runs() if (record := store.read_run(run)) is not None}
        retention = Retention(self.rules, time.time(), store.pins(), runs)
        manifests, contents, old = set(retention.uses()), set[bytes](), []
        for refs in store.ref_files():
            kept = {id(ref) for ref in retention.kept_refs([ref for _, ref in refs])}
            for path, ref in refs:
                if id(ref) not in kept:
                    old.append(path)
                    continue
                manifests.update(ref.steps.values())
                contents.update(
                    bytes.fromhex(blob.digest) for blobs in ref.outputs.values() for blob in blobs.values()
                )
        return _Roots(manifests, contents, old, retention)

    def _read_manifests(self, roots: _Roots[P]) -> None:
        self.reached |= roots.contents
        damaged = 0
        for key, number, _, manifest in self.store.read_manifests(self.store.manifest_files()):
            if manifest is None:
                damaged += 1
            elif (key, number) in roots.manifests or roots.retention.keeps_manifest(manifest):
                self._keep((key, number), _facts(manifest))
            else:
                self.garbage[key, number] = _facts(manifest)
        for key, number, path, manifest in self.store.read_manifests(self.store.retired_files()):
            damaged += manifest is None
            if (key, number) in self.kept:
                self.half_retired.append((key, number))
            elif manifest and (key, number) not in self.garbage:
                self.garbage[key, number] = _facts(manifest)
                self.retired[key, number] = self.files.modified(path) / 1e9
        if damaged:
            raise StoreError(
                f"{damaged} manifests in the store {self.store} are damaged and were moved to "
                "quarantine/; nothing was removed. To list the damage: translations cache verify"
            )

    def _keep(self, name: Id, manifest: _Facts) -> None:
        self.kept.add(name)
        self.reached.update(manifest.outputs, manifest.origins)
        self.wanted.update(manifest.inputs)
        self.explained.update({*manifest.outputs} - {*manifest.inputs})

    def _retire(self, roots: _Roots[P]) -> _Roots[P]:
        """Take out of use what is not kept; return what the records ask for after that."""
        self._each(self.files.unlink, roots.old_refs)  # first: a ref never names what is not there
        self._each(lambda name: self.store.retire(*name), list(self.garbage.keys() - self.retired.keys()))
        return self._read_roots()

    def _restore(self, roots: _Roots[P]) -> None:
        """Keep retired manifests that the records ask for, retired now or earlier."""
        self.reached |= roots.contents
        if self.delete:
            self._each(lambda name: self.store.restore(*name), self.half_retired)
        for name in roots.manifests & self.garbage.keys():
            self._keep(name, self.garbage.pop(name))
            self.retired.pop(name, None)
            if self.delete:
                self.store.restore(*name)

    def _held(self, roots: _Roots[P]) -> set[Id]:
        """Find files that new runs no longer use, but that a run in progress may have resolved."""
        running = roots.retention.running.values()
        first = min(running, default=float("inf")) - _CLOCKS_SECONDS
        now = time.time()
        held = {name for name in self.garbage if first < self.retired.get(name, now)}
        for name in held:
            self.held.update(self.garbage[name].outputs, self.garbage[name].origins)
            self.wanted.update(self.garbage[name].inputs)
        return held

    def _settle(self, held: set[Id]) -> set[Id]:
        """Find the garbage that stays as provenance of kept inputs; its code and config stay, too."""
        makers = defaultdict[bytes, list[Id]](list)
        for name, gone in self.garbage.items():
            for digest in gone.outputs:
                makers[digest].append(name)
        needed, seen, to_do = set[Id](), set(self.explained), list(self.wanted)
        while to_do:
            digest = to_do.pop()
            if digest in seen:
                continue
            seen.add(digest)
            if digest not in makers:
                self.reached.add(digest)  # a file of the repository
            for maker in makers.get(digest, ()):
                if maker not in needed:
                    needed.add(maker)
                    self.reached.update(self.garbage[maker].origins)
                    to_do.extend(self.garbage[maker].inputs)
        for name in self.garbage.keys() - held:
            gone = self.garbage[name]
            self.owner.update(dict.fromkeys((*gone.outputs, *gone.origins), name))
            if name not in self.retired:
                self.freed.add(name)
        return needed

    def _sync(self) -> None:
        """Make retiring durable: a power cut must not bring back a manifest without its contents."""
        steps = self.files.at("steps")
        shards = [steps / name for name in self.files.names(steps)]
        folders = {self.store.manifest_file(*name).parent for name in self.garbage}
        self._each(self.files.sync, [*shards, *folders])

    def _forget_retired(self, stay: set[Id]) -> None:
        retired = self.store.retired_files()
        self._each(self.files.unlink, [path for key, number, path in retired if (key, number) not in stay])

    def _sweep_contents(self, before: int) -> None:
        """Remove contents that are not reached and were not touched after a time (ns)."""
        for shard in self.store.blob_shards():
            with self.files.removing_contents() if self.delete else nullcontext():
                entries = self.files.entries(shard)
                useless = [entry for entry in entries if self._is_useless(entry, before)]
                if self.delete:
                    self._each(self.files.discard, useless)

    def _is_useless(self, entry: StoredFile, before: int) -> bool:
        digest = digest_of_name(entry.name)
        if digest is None:
            return False
        if digest in self.reached:
            self.result.kept.bytes += entry.size
        elif digest in self.held or entry.modified >= before or entry.linked:  # linked: in use
            self.result.later.add(1, entry.size)
        else:
            self._count_freed(digest, entry.size)
            return True
        return False

    def _count_freed(self, digest: bytes, size: int) -> None:
        name = self.owner.get(digest)
        if name is None:
            self.result.rest.setdefault(NO_STEP, Share()).add(1, size)
        else:
            self.freed.add(name)
            self._share(name).add(0, size)

    def _sweep_logs(self, held: set[Id], since: float) -> None:
        useless: list[P] = []
        stay = self.kept | held
        whole_keys = {key for key, _ in stay} - {key for key, _ in self.garbage.keys() - held}
        for key, number, attempt in self.store.logs(whole_keys):
            if (key, number) in stay:
                continue
            folder = self.store.log_folder(key, number, attempt)
            if (key, number) in self.garbage or self.files.modified(folder) / 1e9 < since:
                useless.append(folder)
        self._sweep("logs", useless, self.store.remove_log)

    def _sweep_checkpoints(self, since: float) -> None:
        """Remove the checkpoint sets of steps that have finished, or that have made none for long."""
        last: dict[Id, float] = {}
        for key, number, folder in self.store.checkpoint_sets():
            saved = self.files.modified(folder) / 1e9
            last[key, number] = max(saved, last.get((key, number), 0.0))
        for (key, number), saved in last.items():
            finished = (key, number) in self.kept or (key, number) in self.garbage
            if finished or saved < since:
                with self.store.owners.lock(key, number) if self.delete else nullcontext(True) as mine:
                    if mine:
                        folder = self.files.at("checkpoints", key, str(number))
                        self._sweep("checkpoint sets", [folder], self.store.remove_sets)

    def _sweep_quarantine(self, since: float) -> None:
        folder, useless = self.files.at("quarantine"), list[P]()
        for name in self.files.names(folder):
            match = _ASIDE.search(name)
            if match and int(match[1]) / 1e9 < since:
                useless.append(folder / name)
        self._sweep("quarantine", useless, self.files.remove)

    def _sweep_runs(self, retention: Retention) -> None:
        useless = list(retention.useless_runs(self.kept))
        self.result.rest["runs"] = Share(len(useless))
        if self.delete:
            self._each(self.store.remove_run, useless)

    def _summary(self, roots: _Roots[P]) -> Collected:
        result = self.result
        result.kept.count = len(self.kept)
        result.running = sorted(roots.retention.running)
        result.pinned = sorted(self.store.pins())
        for name in self.freed:
            self._share(name).add(1, 0)
        result.stages = dict(sorted(result.stages.items(), key=lambda item: -item[1].bytes))
        result.rest = {kind: share for kind, share in result.rest.items() if share.count}
        return result

    def _share(self, name: Id) -> Share:
        return self.result.stages.setdefault(self.garbage[name].stage or "(of no stage)", Share())

    def _sweep(self, kind: str, paths: Sequence[P], remove: Callable[[P], object]) -> None:
        """Count files and folders of a kind, and remove them."""

        def sweep(path: P) -> int:
            size = self.files.bytes_below(path)
            if self.delete:
                remove(path)
            return size

        sizes = self._each(sweep, paths)
        self.result.rest.setdefault(kind, Share()).add(len(sizes), sum(sizes))

    def _each(self, act: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """Call a function for each item, for several at once, as each may wait for a journal."""
        parts = [items[start : start + _AT_A_TIME] for start in range(0, len(items), _AT_A_TIME)]
        return [done for part in self.pool.map(lambda part: list(map(act, part)), parts) for done in part]


def _facts(manifest: Manifest) -> _Facts:
    inputs = {blob.digest for blob in manifest.provenance.files.values()}
    inputs.update(manifest.provenance.parts.inputs.values())
    return _Facts(
        sys.intern(manifest.stage),
        tuple(bytes.fromhex(blob.digest) for blob in manifest.outputs.values()),
        tuple(bytes.fromhex(blob.digest) for blob in manifest.origins()),
        tuple(digest for name in inputs if (digest := digest_of_name(name))),
    )
