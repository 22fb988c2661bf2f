"""The result that counts for a step: one that is given, else the store's under its key, if whole.

A result that was lost is told from one that was never made: the store has no manifest of either. What cannot
be repeated byte by byte is not made again unasked, when its manifest was damaged or deleted, and no older
generation takes its place. What the garbage
collector has taken is not lost, and it takes what is asked for here in this order: refs first, then the
manifest, which stays in `retired/` until the log is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from translations_assets.graph.step import Output, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Blob, KeyParts, Manifest
from translations_assets.running.protocols import Store

DAMAGED = "its manifest was damaged and was moved to quarantine/"
RUNS = 20  # newest runs whose records are read

Status = Literal["cached", "run", "maybe", "lost"]


@dataclass(frozen=True)
class StepState:
    """The state of a step, and the reasons.

    cached  `manifest` counts; or its files are lost, and all that is made from them is whole
    run     it will run, as `generation`: no result for its key, or the run repeats its stage; the store may
            have lost files of `manifest`
    maybe   its inputs are not known yet: it runs if a step before it that will run changes one (early cutoff)
    lost    its result was made, is damaged or missing, cannot be repeated byte by byte, and is needed

    parts   of its key; None for a given result, and while they are not known
    again   the generation that was lost, if a lost one is made again; else 0
    """

    step: Step
    status: Status
    reasons: tuple[str, ...] = ()
    parts: KeyParts | None = None
    manifest: Manifest | None = None
    again: int = 0

    @property
    def key(self) -> str | None:
        """The key of the result, or that it would have; None while it is not known."""
        return self.manifest.key if self.manifest else self.parts.digest if self.parts else None

    @property
    def may_run(self) -> bool:
        """True of `run` and `maybe`."""
        return self.status in ("run", "maybe")

    @property
    def generation(self) -> int:
        """The generation that making it now would have."""
        return max(self.manifest.generation + 1 if self.manifest else 1, self.again)


class Lost(NamedTuple):
    """A generation of a step's result that was lost, and how that is known."""

    generation: int
    reason: str


class LostResults:
    """Lost results of a partition, given by the names that its refs have (`ref_partitions`).

    Nothing is read before it is asked for a step that cannot be repeated, and refs and runs are read once.
    """

    def __init__(self, store: Store, partitions: Collection[str]) -> None:
        self._store, self._partitions = store, partitions
        self._published: dict[str, _Named] = {}

    def above(self, step: Step, key: str, found: int) -> Lost | None:
        """The newest lost result of a step above the generation that the store has, 0 for none.

        What the store has does not stand in for it: it may have been made again because that was bad.
        """
        if step.repeatable:
            return None
        older = f"; generation {found}, which is older, is not used in its place" if found else ""
        damaged = (self._damaged if found else self._store.damaged()).get(key, 0)
        lost = [Lost(damaged, f"{DAMAGED}{older}")] if damaged > found else []
        for generation, run in self._named(step.stage, key, found).items():
            if self._is_missing(key, generation):
                reason = f"its manifest is missing from the store, although run {run} has used it{older}"
                lost.append(Lost(generation, reason))
        return max(lost, key=lambda one: one.generation, default=None)

    @cached_property
    def _damaged(self) -> Mapping[str, int]:
        return self._store.damaged()

    def _named(self, stage: str, key: str, found: int) -> Mapping[int, str]:
        """Generations of the key above one, each with a run that has had it."""
        refs, uses = self._refs(stage).get(key, ()), self._uses.get(key, ())
        used = [(run, number) for run, number in uses if number > found and self._store.attempts(key, number)]
        return {number: run for run, number in (*used, *refs) if number > found}

    def _refs(self, stage: str) -> _Named:
        """What the stage's refs name."""
        if stage not in self._published:
            spaces = self._spaces if self._partitions else ()
            refs = (self._store.refs(space, name, stage) for space in spaces for name in self._partitions)
            self._published[stage] = _by_key(
                (ref.run, made) for of_one in refs for ref in of_one for made in ref.steps.values()
            )
        return self._published[stage]

    @cached_property
    def _spaces(self) -> Collection[str]:
        return list(self._store.spaces())

    @cached_property
    def _uses(self) -> _Named:
        """What the newest runs of the partition name that have ended: it had been made."""
        read = {run: self._store.read_run(run) for run in self._store.runs()[:RUNS]}
        return _by_key(
            (run, made)
            for run, record in read.items()
            if record and record.partition in self._partitions and record.ended is not None
            for made in record.uses.values()
        )

    def _is_missing(self, key: str, generation: int) -> bool:
        """True if the garbage collector has nothing to do with it; that may put it back at this moment."""
        is_retired = self._store.read_retired(key, generation) is not None
        return not is_retired and self._store.generation(key, generation) is None


_Named: TypeAlias = "Mapping[str, list[tuple[str, int]]]"  # runs and generations, by key


def _by_key(named: Iterable[tuple[str, tuple[str, int]]]) -> _Named:
    found: dict[str, list[tuple[str, int]]] = {}
    for run, (key, generation) in named:
        found.setdefault(key, []).append((run, generation))
    return found


Outputs: TypeAlias = "Callable[[Step], Mapping[str, Blob] | None]"  # of a step, None while they are not known


@dataclass(frozen=True)
class Resolver:
    """Finds the results that count, for a plan or a run.

    lost     tells what was made from what was not
    fixed    results that count for their steps, whatever their keys
    repeats  whether a step runs although it has a result (None: it has none)
    repair   lost results are made again
    """

    store: Store
    keys: KeyMaker
    lost: LostResults
    fixed: Mapping[Step, Manifest] = field(default_factory=dict)
    repeats: Callable[[Step, Manifest | None], bool] = lambda step, manifest: False
    repair: bool = False

    def find(self, step: Step, outputs: Outputs) -> Manifest | None:
        """The result that a step is known by, given those of the steps before it; its files may be lost."""
        if step in self.fixed:
            return self.fixed[step]
        inputs = inputs_of(step, outputs)
        if inputs is None:
            return None
        key = self.keys.parts(step, inputs).digest
        manifest = self.store.latest(key)
        if manifest is None or _unnamed(step, manifest) or self.lost.above(step, key, manifest.generation):
            return None
        return manifest

    def resolve(self, step: Step, outputs: Outputs) -> StepState:
        """Resolve a step's result, given the outputs of the steps before it.

        >>> [resolver.resolve(graph.step(label), lambda step: None).status for label in ("write-a", "join")]
        ['run', 'maybe']
        """
        if step in self.fixed:
            return StepState(step, "cached", ("taken from the previous run",), None, self.fixed[step])
        inputs = inputs_of(step, outputs)
        if inputs is None:
            return StepState(step, "maybe")
        parts = self.keys.parts(step, inputs)
        manifest = self.store.latest(parts.digest)
        lost = self.lost.above(step, parts.digest, manifest.generation if manifest else 0)
        again = lost.generation if lost else 0
        if self.repeats(step, manifest):
            reason = f"the run repeats the stage {step.stage}"
            return StepState(step, "run", (reason,), parts, manifest, again)
        if lost and not self.repair:
            return StepState(step, "lost", (lost.reason,), parts)
        if manifest is None or lost:
            reason = lost.reason if lost else "no result for its key in the store"
            return StepState(step, "run", (reason,), parts, manifest, again)
        missing = _unnamed(step, manifest) + missing_outputs(manifest, self.store)
        if not missing:
            return StepState(step, "cached", (), parts, manifest)
        verb = "is" if len(missing) == 1 else "are"
        reason = f"{', '.join(missing)} {verb} missing from the store or damaged"
        if step.repeatable or self.repair:
            return StepState(step, "run", (reason,), parts, manifest)
        return StepState(step, "lost", (reason, f"it took {_effort(manifest)}"), parts, manifest)


def inputs_of(step: Step, outputs: Outputs) -> dict[Output, Blob] | None:
    """The contents of a step's inputs; None while those of one are not known."""
    inputs = {}
    for _, _, output in step.input_outputs():
        made = outputs(output.step)
        if made is None or output.name not in made:  # as of a manifest that does not name all
            return None
        inputs[output] = made[output.name]
    return inputs


def missing_outputs(manifest: Manifest, store: Store) -> list[str]:
    """Names of a manifest's outputs whose contents the store does not have whole."""
    return [name for name, blob in manifest.outputs.items() if not store.has_blob(blob)]


def _unnamed(step: Step, manifest: Manifest) -> list[str]:
    """A step's outputs that a manifest does not name, as no worker writes it."""
    return [name for name in step.outputs if name not in manifest.outputs]


def _effort(manifest: Manifest) -> str:
    """Describe the effort of making a result, for people: `3.2 h on 4 GPUs`."""
    gpus = manifest.provenance.worker.gpus if manifest.provenance.worker else 0
    machine = f" on {gpus} GPU{'s' * (gpus != 1)}" if gpus else ""
    seconds = manifest.usage.all_seconds
    return f"{seconds / 3600:.1f} h{machine}" if seconds >= 3600 else f"{seconds:.0f} s{machine}"


T = TypeVar("T")
U = TypeVar("U")


class Map(Protocol):
    """Calls a function for each of some items; an exception comes where its result would, in their order."""

    def __call__(self, function: Callable[[T], U], items: Iterable[T], /) -> Iterator[U]: ...


@contextmanager
def parallel_map(store: Store) -> Iterator[Map]:
    """A `map` that makes as many look-ups at once as pay off with a store; they end with the block."""
    if store.look_ups == 1:
        yield map
        return
    with ThreadPoolExecutor(store.look_ups, thread_name_prefix="look up") as pool:
        yield pool.map
