"""The runner as the engine uses it, and waiting for the result of a step that another worker owns."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from translations_assets.running.events import JobEvent, Waiting
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.resolve import RUNS
from translations_assets.running.saves import newest_save
from translations_assets.running.tasks import Wake, Work, pause

TELL_SECONDS = 30.0  # between two looks at whose worker is waited for
LEFT = "waits for a worker that is already making it; the run that started it has ended"


@dataclass(frozen=True, eq=False)
class Submission:
    """A job that is handed to a runner.

    cancel    set to end the attempt; what sets it also wakes the work
    on_event  gets what happens meanwhile, from any thread
    wake      has the work resumed
    """

    job: Job
    store: Store
    cancel: threading.Event
    on_event: Callable[[JobEvent], None]
    wake: Wake


class Runner(Protocol):
    """A runner of steps. It hands out slots (CPU, GPU); an attempt waits for them."""

    def run(self, submission: Submission) -> Work[Outcome]:
        """One attempt, until its end, as work that costs no thread while it waits; many go on at once.

        When another process owns the step, waits for that owner's result. When cancelled, returns within
        10 s, kind `cancelled`, and ends the script (SIGTERM, then SIGKILL) unless another run waits for the
        step. Raises StoreError, and TemporaryError when another attempt may succeed.
        """


def wait_for_owner(submission: Submission, period: float) -> Work[Outcome | None]:
    """Wait while another worker owns a step, looking every `period` seconds.

    It is told for whom, and again when that is another one, or has come further.

    Its result; None when there is none and the step has no owner any more, or when the run is cancelled.
    """
    step, store, cancel = submission.job.step, submission.store, submission.cancel
    told, rest = "", 0.0
    while True:
        yield from pause(period, cancel.is_set)
        if cancel.is_set():
            return None
        if manifest := store.generation(*step):
            return Outcome("done", manifest)
        with store.owners.lock(*step) as free:  # a dead owner's is acquired
            if free:
                return None
        rest -= period
        if rest <= 0:
            rest = TELL_SECONDS
            if (message := _for_whom(submission)) != told:
                told = message
                submission.on_event(Waiting(message))


def _for_whom(submission: Submission) -> str:
    """Name the maker of the step, and its progress, as far as it saves points to resume from."""
    job, store = submission.job, submission.store
    if twin := _twin(job, store):
        return f"waits for {twin}, which is made from the same"
    run = begun_by_runs(store, job.provenance.run).get(job.step)
    saved = newest_save(store, *job.step) if job.resumable else ""
    who = f"waits for {run}, which is already making it" if run else LEFT
    return f"{who}; it has saved {saved}" if saved else who


def _twin(job: Job, store: Store) -> str:
    """Name another step of the job's run whose key is the same; empty if there is none."""
    record = store.read_run(job.provenance.run)
    begun = record.begun if record and record.ended is None else {}
    return next((label for label, made in begun.items() if made == job.step and label != job.label), "")


def begun_by_runs(store: Store, but: str = "") -> dict[tuple[str, int], str]:
    """(key, generation) → the newest run, but one, that has begun the step and has not ended, in words.

    As the runs' records say: one whose process was killed may be among them.
    """
    found: dict[tuple[str, int], str] = {}
    for run in store.runs()[:RUNS]:
        record = store.read_run(run) if run != but else None
        if record and record.ended is None:
            words = f"run {run[:8]} of {record.partition} ({record.space})"
            found = dict.fromkeys(record.begun.values(), words) | found
    return found
