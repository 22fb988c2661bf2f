"""Progress of the steps of a run or of a partition, and the points from which interrupted ones resume."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from translations_assets.records.manifest import Manifest
from translations_assets.records.run import RunRecord
from translations_assets.running.prices import RecordedStep
from translations_assets.running.protocols import Store
from translations_assets.running.resolve import StepState
from translations_assets.running.saves import newest_save
from translations_assets.runs.run import Run

Condition = Literal[
    "failed",
    "lost",
    "running",
    "interrupted",
    "cancelled",
    "waiting",
    "not begun",
    "finished",
    "cached",
]

_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class StepProgress:
    """The progress of a step.

    worker    its worker class; "" where nothing says
    manifest  of its result
    attempts  those that its result took; without one, those that were made so far
    why       it failed
    saved     from where it goes on, as `newest_save` says
    since     when the attempt was started that is being made
    """

    label: str
    stage: str
    worker: str
    state: Condition
    manifest: Manifest | None = None
    attempts: int = 0
    why: str = ""
    saved: str = ""
    since: float | None = None

    @property
    def needs(self) -> RecordedStep:
        """Its needs for a machine."""
        return RecordedStep(self.stage, self.worker)


def steps_of_run(store: Store, run: Run) -> list[StepProgress]:
    """The steps that a run was to make, as its record says: as they were, whatever config and code are now.

    Of a run from before that was noted, those that it used.
    """
    used = {"": dict.fromkeys(run.record.uses, "")}
    return [
        _step_of_run(store, run, stage, label, worker)
        for stage, labels in (run.record.steps or used).items()
        for label, worker in labels.items()
    ]


def _step_of_run(store: Store, run: Run, stage: str, label: str, worker: str) -> StepProgress:
    record = run.record
    if used := record.uses.get(label):
        manifest = store.generation(*used)
        stage = stage or (manifest.provenance.stage if manifest else "")
        return _result(label, stage, worker, _of_result(run, manifest) if manifest else "lost", manifest)
    why = record.failed.get(label, "")
    idle: Condition = "not begun" if run.is_over else "waiting"
    begun = record.begun.get(label)
    if begun is None:
        return StepProgress(label, stage, worker, "failed" if why else idle, why=why)
    manifest = store.generation(*begun)
    if manifest and (_has_made(run, manifest) or not run.is_over):  # since the record was written
        return _result(label, stage, worker, _of_result(run, manifest), manifest)
    attempts = len(store.attempts(*begun))
    state = idle
    if why:
        state = "failed"
    elif run.is_over:
        state = ("cancelled" if record.ended else "interrupted") if attempts else idle
    elif store.owners.is_owned(*begun):
        state = "running"
    saved = "" if manifest or state == "running" else newest_save(store, *begun)
    since = record.since.get(label) if state == "running" else None
    return StepProgress(label, stage, worker, state, None, attempts, why, saved, since)


def step_of_plan(store: Store, planned: StepState) -> StepProgress:
    """A step of a partition as it is now, whichever run made it."""
    step, key, manifest = planned.step, planned.key, planned.manifest
    if planned.status == "cached":
        return _result(step.label, step.stage, step.worker, "finished", manifest)
    if planned.status in ("maybe", "lost") or key is None:
        state: Condition = "lost" if planned.status == "lost" else "waiting"
        return StepProgress(step.label, step.stage, step.worker, state, manifest)
    made = key, planned.generation
    attempts = len(store.attempts(*made))
    if store.owners.is_owned(*made):
        return StepProgress(step.label, step.stage, step.worker, "running", None, attempts)
    state = "failed" if attempts else "waiting"
    saved = newest_save(store, *made)
    return StepProgress(step.label, step.stage, step.worker, state, None, attempts, saved=saved)


def _result(label: str, stage: str, worker: str, state: Condition, manifest: Manifest | None) -> StepProgress:
    attempts = manifest.attempt if manifest else 0
    return StepProgress(label, stage, worker, state, manifest, attempts)


def _of_result(run: Run, manifest: Manifest) -> Condition:
    return "finished" if _has_made(run, manifest) else "cached"


def _has_made(run: Run, manifest: Manifest) -> bool:
    return manifest.provenance.run == run.id


def interrupted(store: Store, record: RunRecord, seconds: float = 0.0) -> Iterator[str]:
    """The point from which each step resumes that a run had begun and not finished.

    seconds  how long it is waited for workers that are about to end, in all
    """
    deadline = time.monotonic() + seconds
    for label, made in record.begun.items():
        while _is_ending(store, *made) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        if store.generation(*made):
            continue
        if _is_ending(store, *made):
            yield f"{label} ends once what it saved is stored."
        elif store.owners.is_owned(*made):
            yield f"{label} goes on for another run."
        elif not store.attempts(*made):  # logs come seconds late: it may have begun, and has saved nothing
            continue
        elif saved := newest_save(store, *made):
            yield f"{label} will go on from {saved}."
        else:
            yield f"{label} will begin anew: it had saved nothing."


def _is_ending(store: Store, key: str, generation: int) -> bool:
    """True if a worker still holds a step that no run wants."""
    return store.owners.is_owned(key, generation) and not store.owners.waiters(key, generation)
