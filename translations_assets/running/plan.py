"""The plan: which steps of a graph are cached, will run, or may run; nothing is run or written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from translations_assets.graph.step import Output, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Blob, Manifest
from translations_assets.running.durations import Cost, outlook
from translations_assets.running.looking import looking
from translations_assets.running.lost import LostResults
from translations_assets.running.protocols import Store

Status = Literal["cached", "run", "maybe", "lost"]


@dataclass(frozen=True)
class PlannedStep:
    """What will become of a step.

    cached  its result is in the store; or its files are lost, and all that is made from them is whole
    run     it will run: no result for its key, or the run was told to repeat it
    maybe   it runs if a step before it that will run changes its input (early cutoff)
    lost    its result was made, is damaged or missing, cannot be repeated byte by byte, and is needed
    """

    step: Step
    status: Status
    key: str | None
    reasons: tuple[str, ...] = ()
    manifest: Manifest | None = None


@dataclass(frozen=True)
class Plan:
    """The planned steps in running order."""

    steps: tuple[PlannedStep, ...]

    def count(self, status: Status) -> int:
        """How many steps have a status."""
        return sum(planned.status == status for planned in self.steps)

    def by_stage(self) -> Mapping[str, list[PlannedStep]]:
        """The planned steps of each stage, in running order."""
        stages: dict[str, list[PlannedStep]] = {}
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

    def summary(self, costs: Mapping[Step, Cost | None] | None = None) -> str:
        """One line that a person can decide from; with what the steps cost that will or may run."""
        names: tuple[Status, ...] = ("cached", "run", "maybe", "lost")
        counts = [f"{self.count(name)} {name}" for name in names if self.count(name)]
        line = f"{len(self.steps)} step{'s' * (len(self.steps) != 1)}: {', '.join(counts) or 'nothing to do'}"
        if costs is None:
            return line
        will, may = (
            [costs[planned.step] for planned in self.steps if planned.status == status]
            for status in ("run", "maybe")
        )
        return "; ".join(filter(None, [line, outlook(will, may)]))


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
    """
    planning = _Planning(keys, store, repeat, fixed or {}, repair, LostResults(store, partitions))
    with looking(store) as look:
        for wave in _waves(steps):
            planning.planned.update(zip(wave, look.each(planning.plan, wave), strict=True))
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
    keys: KeyMaker
    store: Store
    repeat: Collection[str]
    fixed: Mapping[Step, Manifest]
    repair: bool
    lost: LostResults
    planned: dict[Step, PlannedStep] = field(default_factory=dict)

    def plan(self, step: Step) -> PlannedStep:
        if step in self.fixed:
            return self._fixed(step, self.fixed[step])
        repeats = step.stage in self.repeat
        upstream = [self.planned[up] for up in step.upstream()]
        waiting = [up for up in upstream if up.status in ("run", "maybe")]
        if waiting:
            reasons = tuple(f"input from {up.step.label}, which is not cached" for up in waiting)
            return PlannedStep(step, "run" if repeats else "maybe", None, reasons)
        lost = tuple(f"input from {up.step.label}, which is lost" for up in upstream if up.status == "lost")
        if any(up.manifest is None for up in upstream):
            return PlannedStep(step, "maybe", None, lost)
        key, manifest = self._look_up(step)
        if lost and (repeats or manifest is None):
            return PlannedStep(step, "maybe", key, lost, manifest)
        if repeats:
            return PlannedStep(step, "run", key, (f"told to repeat the stage {step.stage}",), manifest)
        if manifest is None:
            return self._not_found(step, key)
        return self._found(step, manifest)

    def _not_found(self, step: Step, key: str) -> PlannedStep:
        if not self.repair and (reason := self.lost.reason(step, key)):
            return PlannedStep(step, "lost", key, (reason,))
        return PlannedStep(step, "run", key, ("no result for its key in the store",))

    def _look_up(self, step: Step) -> tuple[str, Manifest | None]:
        inputs = {output: self._contents(output) for _, _, output in step.input_outputs()}
        key = self.keys.parts(step, inputs).digest
        return key, self.store.latest(key)

    def _contents(self, output: Output) -> Blob:
        manifest = self.planned[output.step].manifest
        assert manifest is not None  # the step is cached or lost
        return manifest.outputs[output.name]

    def _fixed(self, step: Step, manifest: Manifest) -> PlannedStep:
        reason = "taken from the previous run"
        return PlannedStep(step, "cached", manifest.key, (reason,), manifest)

    def _found(self, step: Step, manifest: Manifest) -> PlannedStep:
        missing = missing_outputs(manifest, self.store)
        if not missing:
            return PlannedStep(step, "cached", manifest.key, (), manifest)
        reason = are_missing(missing)
        if step.repeatable or self.repair:
            return PlannedStep(step, "run", manifest.key, (reason,), manifest)
        return PlannedStep(step, "lost", manifest.key, (reason, f"it took {cost(manifest)}"), manifest)

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
                reasons = (*planned.reasons, "left alone: everything made from it is whole")
                self.planned[step] = replace(planned, status="cached", reasons=reasons)


def missing_outputs(manifest: Manifest, store: Store) -> list[str]:
    """Names of a manifest's outputs whose contents the store does not have whole."""
    return [name for name, blob in manifest.outputs.items() if not store.has_blob(blob)]


def are_missing(names: Sequence[str]) -> str:
    """That the contents of these outputs are gone, for people."""
    return f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} missing from the store or damaged"


def cost(manifest: Manifest) -> str:
    """What making a result took, for people: `3.2 h on 4 GPUs`."""
    gpus = manifest.provenance.get("worker", {}).get("gpus", 0)
    machine = f" on {gpus} GPU{'s' * (gpus != 1)}" if gpus else ""
    seconds = manifest.usage.seconds
    return f"{seconds / 3600:.1f} h{machine}" if seconds >= 3600 else f"{seconds:.0f} s{machine}"
