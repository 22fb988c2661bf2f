"""The plan: which steps of a graph are cached, will run, or may run; nothing is run or written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from translations_assets.graph.step import Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.running.protocols import Store
from translations_assets.running.resolve import LostResults, Resolver, Status, StepState, parallel_map


@dataclass(frozen=True)
class Plan:
    """The planned steps in running order."""

    steps: tuple[StepState, ...]

    def count(self, status: Status) -> int:
        """Count the steps with a status."""
        return sum(planned.status == status for planned in self.steps)

    @property
    def may_run(self) -> bool:
        """True when a step of it will run, or may."""
        return any(planned.may_run for planned in self.steps)

    def by_stage(self) -> Mapping[str, list[StepState]]:
        """The planned steps of each stage, in running order."""
        stages: dict[str, list[StepState]] = {}
        for planned in self.steps:
            stages.setdefault(planned.step.stage, []).append(planned)
        return stages

    def results(self) -> dict[Step, Manifest]:
        """The results that count for the steps after them."""
        return {
            planned.step: planned.manifest
            for planned in self.steps
            if planned.manifest and planned.status in ("cached", "lost")
        }

    def with_reasons(self, reasons: Mapping[Step, tuple[str, ...]]) -> Plan:
        """The same plan with other reasons for some steps."""
        return Plan(
            tuple(
                replace(planned, reasons=reasons.get(planned.step, planned.reasons)) for planned in self.steps
            )
        )

    def summary(self) -> str:
        """Count the steps by status, in one line."""
        names: tuple[Status, ...] = ("cached", "run", "maybe", "lost")
        counts = [f"{self.count(name)} {name}" for name in names if self.count(name)]
        return f"{len(self.steps)} step{'s' * (len(self.steps) != 1)}: {', '.join(counts) or 'nothing to do'}"


def make_plan(
    steps: Iterable[Step],
    keys: KeyMaker,
    store: Store,
    repeat: Collection[str] = (),
    fixed: Mapping[Step, Manifest] | None = None,
    repair: bool = False,
    partitions: Collection[str] = (),
) -> Plan:
    """Plan steps given in running order, upstream steps included.

    repeat      stages that run although cached
    fixed       results that count for their steps, whatever their keys
    repair      lost results are made again
    partitions  by whose refs and runs it is known what was made, see `LostResults`

    >>> plan = make_plan(graph.steps, keys, store)
    >>> plan.summary()
    '4 steps: 2 run, 2 maybe'
    >>> plan.steps[2].reasons
    ('input from write-a, which is not cached', 'input from write-b, which is not cached')
    """
    resolver = Resolver(
        store,
        keys,
        LostResults(store, partitions),
        fixed or {},
        lambda step, manifest: step.stage in repeat,
        repair,
    )
    planning = _Planning(resolver)
    with parallel_map(store) as look_up:
        for wave in _waves(steps):
            planning.planned.update(zip(wave, look_up(planning.plan, wave), strict=True))
    planning.leave_alone()
    return Plan(tuple(planning.planned.values()))


def _waves(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """The steps in their order, in lists of steps that do not need each other."""
    wave: dict[Step, None] = {}
    for step in steps:
        if any(up in wave for up in step.upstream()):
            yield list(wave)
            wave = {}
        wave[step] = None
    yield list(wave)


@dataclass
class _Planning:
    resolver: Resolver
    planned: dict[Step, StepState] = field(default_factory=dict)

    def plan(self, step: Step) -> StepState:
        resolver = self.resolver
        upstream = [] if step in resolver.fixed else [self.planned[up] for up in step.upstream()]
        waiting = [up for up in upstream if up.may_run]
        if waiting:
            reasons = tuple(f"input from {up.step.label}, which is not cached" for up in waiting)
            return StepState(step, "run" if resolver.repeats(step, None) else "maybe", reasons)
        lost = tuple(f"input from {up.step.label}, which is lost" for up in upstream if up.status == "lost")
        found = resolver.resolve(step, self._outputs)
        is_new = found.manifest is None or resolver.repeats(step, found.manifest)
        if lost and found.status == "run" and not is_new:  # its files are lost, and it cannot be made again
            return replace(found, status="lost", reasons=(*found.reasons, *lost))
        if found.status == "maybe" or (lost and is_new):
            return replace(found, status="maybe", reasons=lost)
        return found

    def _outputs(self, step: Step) -> Mapping[str, Blob] | None:
        manifest = self.planned[step].manifest
        return manifest.outputs if manifest else None

    def leave_alone(self) -> None:
        """A result whose files are lost counts as cached when all that is made from them, something, does."""
        readers: dict[Step, list[Step]] = {}
        for step in self.planned:
            for up in step.upstream():
                readers.setdefault(up, []).append(step)
        for step, planned in reversed(self.planned.items()):
            made = readers.get(step, [])
            if planned.status != "lost" or planned.manifest is None:
                continue
            if made and all(self.planned[reader].status == "cached" for reader in made):
                reasons = (*planned.reasons, "left alone: everything made from it is intact")
                self.planned[step] = replace(planned, status="cached", reasons=reasons)
