"""The invariants of a simulation, checked as soon as they can be broken."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.simulation.kernel import EPOCH, Process
from translations_assets.graph.step import Step
from translations_assets.records.cost import Cost
from translations_assets.records.encoding import unseal
from translations_assets.records.manifest import Blob, Manifest, Ref
from translations_assets.records.run import RunRecord
from translations_assets.running.budget import Budget
from translations_assets.store.bucket.leases import LAPSED_AFTER, PERIOD, Leases, _Lease
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.contents import digest_bytes

if TYPE_CHECKING:
    from tests.simulation.world import Run, World

_ALIVE = 10 * 60.0  # a run's record is renewed each minute
# Seconds after a pause in which a process has seen what it lost: of a machine that sleeps the clock stood
# still, so that only the next renewal of a lease tells, after two thirds of a period.
_NOTICED = 20.0
_LAPSED = LAPSED_AFTER * PERIOD  # seconds of a pause that may cost a collector its lease
_SILENT = 600.0  # seconds: several requests in a row that are slow or given up
_TOLD = 2.0  # seconds in which a run is told that a script has begun


class Broken(AssertionError):
    """An invariant does not hold."""


@dataclass
class WatchedBudget(Budget):
    """A budget that knows by itself how long scripts have taken.

    workers  of its run, of a step
    require  raises unless something holds
    taken    seconds that the scripts of ended attempts have taken, which cost 1 each
    """

    workers: Callable[[Step], list[Process]] = lambda step: []
    require: Callable[[bool, str], None] = lambda holds, words: None
    taken: float = 0.0
    _ended: set[Process] = field(default_factory=set)

    def begin(self, step: Step, forecast: Mapping[str, Cost]) -> str:
        """Count an attempt: none may begin once the budget is taken."""
        words = super().begin(step, forecast)
        allowed = self.limit + _TOLD * len(self._ended)
        self.require(
            bool(words) or self.taken <= allowed,
            f"{step.label} begins, though {self.taken:.0f} s of {self.limit:.0f} are taken",
        )
        return words

    def end(self, step: Step, now: float, made: Manifest | None) -> None:
        """Charge an attempt."""
        for worker in self.workers(step):
            if worker not in self._ended and worker.script_began is not None:
                self._ended.add(worker)
                ended = now if worker.script_ended is None else worker.script_ended
                self.taken += ended - worker.script_began
        super().end(step, now, made)


class Checks:
    """Looks at the world after each request that may have changed it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._leases: dict[Process, Leases] = {}
        self._works: dict[Process, tuple[str, int]] = {}
        self._owners: dict[str, list[bytes]] = defaultdict(list)  # of each lease, one after the other
        self._finished: dict[tuple[str, int], tuple[float, bytes]] = {}
        self._begun = Counter[tuple[str, int]]()  # workers of each step
        self._retired: dict[str, Process] = {}  # manifest → the collector that may still put it back
        self._pinned: dict[str, set[tuple[str, int]]] = {}  # what was whole when its run was pinned
        self._parsed: dict[tuple[str, int], Any] = {}
        self._said: dict[Run, tuple[float, float, str]] = {}
        self.states: set[int] = set()
        self._counted = 0, 0  # objects when they were last counted, and by folder

    def require(self, holds: bool, words: str) -> None:
        """Raise Broken unless something holds; the code around may take it for an error of its own."""
        if not holds:
            self._world.kernel.fail(error := Broken(words))
            raise error

    # Told by the world

    def opened(self, process: Process, store: BucketStore) -> None:
        """A process has opened the store."""
        self._leases[process] = store.owners  # type: ignore[assignment]

    def works(self, process: Process, step: tuple[str, int]) -> None:
        """A worker begins to work on a step."""
        self._works[process] = step
        self._begun[step] += 1

    def begins(self, process: Process) -> None:
        """A worker begins its script: nobody may have finished the step before the worker began."""
        step = self._works[process]
        if finished := self._finished.get(step):
            self.require(
                finished[0] > process.started,
                f"{process.name} makes {step[0][:8]}.{step[1]} again, which was finished before",
            )
        self._check_owners()
        self._check_record(process)

    def _check_record(self, process: Process) -> None:
        """What a run has used is on record before anything is made from it."""
        run = next((run for run in self._world.runs if run.process is self._world.parents[process]), None)
        if run is None or run.session is None or not run.process.is_alive:
            return
        record = dict(self._records("runs", RunRecord)).get(f"runs/{run.name}.json")
        label = process.name.split()[2]
        for step in run.session.graph.step(label).upstream():
            used = run.session.results.result_of(step)
            named = record.uses.get(step.label) if record else None
            self.require(
                named == (used.key, used.generation),
                f"{process.name} begins, and {run.name} has not put {step.label} on record",
            )

    def told(self, run: Run, kind: str) -> None:
        """A run says something of a step, or ends.

        It may be silent while a script of its works, or while it waits for what it has told.
        """
        now, process = self._world.kernel.now, run.process
        moment, said, last = self._said.get(run, (now, process.clock, ""))
        self._said[run] = now, process.clock, kind
        if last in ("waiting", "retry") or process.machine.paused_until > moment:
            return
        worked = [
            worker.clock if worker.script_ended is None else worker.script_ended
            for worker, parent in self._world.parents.items()
            if parent is process and worker.script_began is not None
        ]
        silent = process.clock - max(said, *worked, said)
        self.require(silent < _SILENT, f"{run.name} says nothing for {silent:.0f} s after '{last}'")

    def ended(self, run: Run) -> None:
        """A run has ended in order: what it says that it has made is there."""
        self.told(run, "ended")
        if run.session is None:
            return
        record = dict(self._records("runs", RunRecord)).get(f"runs/{run.name}.json")
        if record and record.ended is not None:
            used = {step.label: made for step, made in run.session.results.used().items()}
            self.require(
                record.uses == used, f"{run.name} has used {used}, and its record says {record.uses}"
            )
        if run.words != "done":
            return
        for step, (key, generation) in run.session.results.used().items():
            self.require(
                self._manifest(key, generation) is not None
                or self._manifest(key, generation, "retired") is not None,
                f"{run.name} has made {step.label}, and its manifest is gone",
            )

    def verified(self, report: Any) -> None:
        """Damage that `verify` has found, though nothing damages anything here."""
        self.require(not report.problems, f"verify has found {report.problems[:3]}")

    def collected(self, process: Process) -> None:
        """A collector has ended in order: it has put back what is named, by now or when a former one died."""
        self._retired = {
            name: retired_by
            for name, retired_by in self._retired.items()
            if retired_by is not process and retired_by.is_alive
        }
        self._check_named()

    # Looked at

    def after(self, kind: str, name: str, process: Process) -> None:
        """A request has been done."""
        if kind in ("read", "stat", "walk", "folder", "read_range"):
            return
        folder = name.partition("/")[0]
        if folder == "steps":
            self._note_finished(name)
        if folder == "retired":
            self._retired[name] = process
        if folder == "pins" and kind == "create":
            self._note_pin(name)
        if folder in ("steps", "blobs", "refs", "pins", "retired"):
            self._check_named()
        if folder == "leases":
            self._check_order(name)
            self._check_owners()
        self._note_state()

    def settled(self) -> None:
        """Everybody has ended."""
        self._check_named()

    def at_end(self) -> None:
        """All is over: what is stored is whole."""
        for name, (data, _) in self._world.service.objects._found.items():
            if name.startswith("blobs/"):
                self.require(digest_bytes(data).digest == name.rpartition("/")[2], f"{name} is not whole")

    def _note_pin(self, name: str) -> None:
        """A pin keeps what is there when it is made: the collector may have been there before."""
        record = dict(self._records("runs", RunRecord)).get(name.replace("pins/", "runs/"))
        uses = record.uses.values() if record else ()
        self._pinned[name] = {made for made in uses if self._is_whole(*made) or self._is_just_retired(*made)}

    def _is_whole(self, key: str, generation: int) -> bool:
        manifest = self._manifest(key, generation)
        return manifest is not None and all(map(self._has, manifest.outputs.values()))

    def _is_just_retired(self, key: str, generation: int) -> bool:
        """True if a collector that is at work has retired it: no run can be pinned meanwhile."""
        collector = self._retired.get(f"retired/{key}.{generation}.json")
        if collector is None or not collector.is_alive or collector.machine.is_cut:
            return False
        return collector.machine.paused_until + _LAPSED < self._world.kernel.now

    def _note_finished(self, name: str) -> None:
        """A manifest that is there stays as it is, or goes; it is never another one."""
        found = self._world.service.objects.read(name)
        key, number = name.split("/")[2], int(name.rpartition("/")[2].removesuffix(".json"))
        if found is None:
            self._finished.pop((key, number), None)
            return
        _, earlier = self._finished.setdefault((key, number), (self._world.kernel.now, found[0]))
        self.require(earlier == found[0], f"{name} is another one than before")
        manifest = self._manifest(key, number)
        assert manifest is not None
        begun = self._begun[key, number]
        self.require(
            manifest.attempt <= begun, f"{name} is of attempt {manifest.attempt}, and {begun} were begun"
        )

    def _check_owners(self) -> None:
        """No step has two owners that both count."""
        owners: dict[str, Process] = {}
        now = self._world.kernel.now
        for process, leases in self._leases.items():
            if not process.is_alive or process.machine.paused_until + _NOTICED > now:
                continue
            for name, lease in leases._held.items():
                if not lease.reason and not self._is_unaware(process, lease):
                    others = owners.setdefault(name, process)
                    self.require(
                        others is process, f"{name} has two owners: {process.name} and {others.name}"
                    )

    def _is_unaware(self, process: Process, lease: _Lease) -> bool:
        """A machine that slept, and is cut off, cannot hear of what it has lost. Nor can it do harm."""
        machine, now = process.machine, self._world.kernel.now
        slept = now * machine.rate - lease.confirmed - (process.clock - lease.renewed)
        return slept > 1.0 and (machine.is_cut or machine.healed + _NOTICED > now)

    def _check_order(self, name: str) -> None:
        """A lease that was taken over is never again its former owner's."""
        found = self._world.service.objects.read(name)
        if found is None:
            return
        owner, owners = found[0].partition(b"\n")[0], self._owners[name]
        self.require(
            owner not in owners[:-1], f"{name} is again the lease of one who was overtaken: {owner.decode()}"
        )
        if owner not in owners:
            owners.append(owner)

    def _check_named(self) -> None:
        """What refs, pins and living runs name is there, whole."""
        for (key, generation), why in self._named().items():
            manifest = self._manifest(key, generation)
            if manifest is None and self._is_put_back(key, generation, why):
                manifest = self._manifest(key, generation, "retired")
            self.require(manifest is not None, f"{why} names {key[:8]}.{generation}, which is gone")
            assert manifest is not None
            for name, blob in manifest.outputs.items():
                self.require(self._has(blob), f"{why} names {manifest.label}, whose {name} is gone")

    def _is_put_back(self, key: str, generation: int, why: str) -> bool:
        """True if a collector, or the run that publishes it, has yet to put back a retired manifest."""
        if why.startswith("run") or f"retired/{key}.{generation}.json" in self._retired:
            return True
        folder, _, name = why.rpartition("/")
        publisher = name.removesuffix(".json").partition("~")[0]
        return folder.startswith("refs/") and any(
            run.name == publisher and run.words != "done" for run in self._world.runs
        )

    def _named(self) -> dict[tuple[str, int], str]:
        """(key, generation) → what names it."""
        named: dict[tuple[str, int], str] = {}
        now = self._world.kernel.now
        for _, record in self._records("runs", RunRecord):
            if record.ended is None and record.heartbeat > EPOCH + now - _ALIVE:
                named.update(dict.fromkeys(record.uses.values(), f"run {record.run}"))
        for name, pinned in self._pinned.items():
            if self._world.service.objects.read(name):
                named.update(dict.fromkeys(pinned, name))
        for name, ref in self._records("refs", Ref):
            named.update(dict.fromkeys(ref.steps.values(), name))
        return named

    def _records(self, folder: str, kind: Any) -> Iterator[tuple[str, Any]]:
        objects = self._world.service.objects
        for found in objects.walk(f"{folder}/"):
            yield found.name, self._parse(found.name, found.generation, kind)

    def _manifest(self, key: str, generation: int, folder: str = "steps") -> Manifest | None:
        name = (
            f"steps/{key[:2]}/{key}/{generation}.json"
            if folder == "steps"
            else f"retired/{key}.{generation}.json"
        )
        found = self._world.service.objects.stat(name)
        return None if found is None else self._parse(name, found.generation, Manifest)

    def _parse(self, name: str, generation: int, kind: Any) -> Any:
        if (name, generation) not in self._parsed:
            found = self._world.service.objects.read(name)
            assert found is not None
            value = unseal(found[0])
            value.pop("format", None)
            self._parsed[name, generation] = kind.from_dict(value)
        return self._parsed[name, generation]

    def _has(self, blob: Blob) -> bool:
        found = self._world.service.objects.stat(f"blobs/{blob.digest[:2]}/{blob.digest}")
        return found is not None and found.size == blob.size

    def _note_state(self) -> None:
        """Count the state: which folders have how many objects, and who is at work."""
        names = self._world.service.objects._names
        if len(names) != self._counted[0]:  # one request makes or removes one object
            counts = Counter(name.partition("/")[0] for name in names)
            self._counted = len(names), hash(tuple(sorted(counts.items())))
        alive = sum(process.is_alive for process in self._world.processes)
        self.states.add(hash((self._counted[1], alive)))
