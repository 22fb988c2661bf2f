"""The plan: which steps of a graph are cached, will run, or may run; nothing is run or written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from translations_assets.steps.key import KeyMaker
from translations_assets.steps.manifest import Blob, Manifest
from translations_assets.steps.protocols import Store
from translations_assets.steps.step import Output, Step

Status = Literal["cached", "run", "maybe", "lost"]


@dataclass(frozen=True)
class PlannedStep:
    """What will become of a step.

    cached  its result is in the store
    run     it will run: no result for its key, or the run was told to repeat it
    maybe   it runs if a step before it that will run changes its input (early cutoff)
    lost    its result was made, is damaged or missing, and cannot be repeated byte by byte
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

    def summary(self) -> str:
        """One line that a person can decide from."""
        names: tuple[tuple[Status, str], ...] = (
            ("cached", "cached"),
            ("run", "to run"),
            ("maybe", "to run if their input changes"),
            ("lost", "lost"),
        )
        counts = [f"{self.count(status)} {name}" for status, name in names if self.count(status)]
        return f"{len(self.steps)} steps: {', '.join(counts) or 'nothing to do'}"


def make_plan(steps: Iterable[Step], keys: KeyMaker, store: Store, repeat: Collection[str] = ()) -> Plan:
    """Plan steps given in running order, upstream steps included; stages in `repeat` run although cached."""
    planned: dict[Step, PlannedStep] = {}
    for step in steps:
        planned[step] = _plan_step(step, planned, keys, store, repeat)
    return Plan(tuple(planned.values()))


def _plan_step(
    step: Step,
    planned: Mapping[Step, PlannedStep],
    keys: KeyMaker,
    store: Store,
    repeat: Collection[str],
) -> PlannedStep:
    waiting = [up for up in step.upstream() if planned[up].status != "cached"]
    if waiting:
        reasons = tuple(f"input from {up.label}, which is not cached" for up in waiting)
        return PlannedStep(step, "run" if step.stage in repeat else "maybe", None, reasons)
    inputs = {output: _contents(output, planned) for _, _, output in step.input_outputs()}
    key = keys.parts(step, inputs).digest
    manifest = store.latest(key)
    if step.stage in repeat:
        return PlannedStep(step, "run", key, (f"told to repeat the stage {step.stage}",))
    if manifest is None:
        return PlannedStep(step, "run", key, ("no result for its key in the store",))
    missing = missing_outputs(manifest, store)
    if missing:
        reason = f"{', '.join(missing)} is missing from the store or damaged"
        return PlannedStep(step, "run" if step.repeatable else "lost", key, (reason,), manifest)
    return PlannedStep(step, "cached", key, (), manifest)


def _contents(output: Output, planned: Mapping[Step, PlannedStep]) -> Blob:
    manifest = planned[output.step].manifest
    assert manifest is not None  # the step is cached
    return manifest.outputs[output.name]


def missing_outputs(manifest: Manifest, store: Store) -> list[str]:
    """Names of a manifest's outputs whose contents the store does not have whole."""
    return [name for name, blob in manifest.outputs.items() if not store.has_blob(blob)]
