"""Attempts of the steps that a run makes: each step is tried again, and waits while the store is away."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

from translations_assets.common.background import CLOCK, Clock
from translations_assets.common.errors import (
    RunCancelled,
    StoreError,
    StoreUnreachable,
    TemporaryError,
    TranslationsError,
)
from translations_assets.graph.step import LocalFile, Output, RepoFile, Step
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Blob, KeyParts, Provenance
from translations_assets.running.budget import Spending
from translations_assets.running.events import Explained, JobEvent, Progress, Retry, Started, StepEvent
from translations_assets.running.failure import why_ended
from translations_assets.running.job import Job, Outcome, make_job
from translations_assets.running.protocols import Store
from translations_assets.running.resolve import StepState
from translations_assets.running.runner import Runner, Submission
from translations_assets.running.session import Session
from translations_assets.running.tasks import RUN_SECONDS, Wake, Work, at_once, finish, patiently, pause

RETRY_SECONDS = 2.0  # pause before the second attempt; doubles with every further one
LONGEST_PAUSE = 300.0
NO_RESULT = "no result for its key"  # where nobody can explain more

_log = logging.getLogger(__name__)

T = TypeVar("T")

Explain: TypeAlias = Callable[[Session, Step, KeyParts], Sequence[str]]


@dataclass(frozen=True)
class Means:
    """What steps are made with.

    revision    of the repository, which every manifest records
    explain     says why a step that has no result for its key runs, for the run's record
    clock       what time it is, and how to wait
    """

    store: Store
    runner: Runner
    revision: str = ""
    explain: Explain | None = None
    clock: Clock = CLOCK


@dataclass(frozen=True)
class Attempts:
    """Makes the missing steps of a run: those whose state is `run`.

    explainers  find out why steps run
    emit        gets the events of the steps
    logs        of the steps that ran
    unpaid      steps not begun, or ended, for want of budget
    """

    means: Means
    session: Session
    cancel: threading.Event
    spending: Spending
    explainers: Executor
    emit: Callable[[StepEvent], None]
    logs: dict[Step, tuple[str, int]] = field(default_factory=dict)
    unpaid: set[Step] = field(default_factory=set)
    _explained: set[Step] = field(default_factory=set)

    def run(self, missing: StepState, wake: Wake) -> Work[Outcome]:
        """All attempts of a step; whatever goes wrong is this step's failure."""
        if self.cancel.is_set():
            return Outcome("cancelled", message="cancelled before it started")
        try:
            return (yield from self._attempts(missing, wake))
        except RunCancelled as error:
            return Outcome("cancelled", message=str(error))
        except TranslationsError as error:
            return Outcome("failed", message=str(error))
        except Exception:
            return Outcome("failed", message="a bug of the engine", log_tail=traceback.format_exc())

    def reach_now(self, step: Step, action: Callable[[], T]) -> T:
        """Do what a step needs the store for, in this thread: see `_reach`."""
        work = self._reach(step, lambda: at_once(action))
        return finish(work, partial(self.means.clock.wait, self.cancel))

    def _attempts(self, missing: StepState, wake: Wake) -> Work[Outcome]:
        step = missing.step
        job = yield from self._reach(step, lambda: at_once(lambda: self._job(missing)))
        counted = 0
        while True:
            outcome = yield from self._reach(step, partial(self._attempt, missing, job, wake))
            counted += not outcome.uncounted
            if outcome.kind != "temporary" or counted == step.attempts:
                return outcome
            self._retry(step, why_ended(outcome))
            seconds = min(RETRY_SECONDS * 2 ** max(counted - 1, 0), LONGEST_PAUSE)
            yield from pause(seconds, self.cancel.is_set, self.means.clock)
            if self.cancel.is_set():
                return Outcome("cancelled", message="cancelled before another attempt")
            job = replace(job, attempt=job.attempt + 1)

    def _attempt(self, missing: StepState, job: Job, wake: Wake) -> Work[Outcome]:
        """One attempt, if the budget has enough for it.

        Raises StoreUnreachable for one that the store ended: it does not count.
        """
        step, budget, outcome = missing.step, self.session.budget, None
        if budget and (refusal := budget.begin(step, self.session.expected)):
            return self._unpaid(step, f"not begun: {refusal}")
        try:
            outcome = yield from self._submit(missing, job, wake)
            if outcome.kind != "done" and (words := self.spending.why_ended(step)):
                return self._unpaid(step, f"ended: {words}")
            return outcome
        finally:
            if budget:
                budget.end(step, self.means.clock.monotonic(), outcome.manifest if outcome else None)

    def _submit(self, missing: StepState, job: Job, wake: Wake) -> Work[Outcome]:
        """One attempt."""
        step = missing.step

        def on_event(event: JobEvent) -> None:
            is_start = isinstance(event, Started)
            self.emit(StepEvent(step, event, job.step if is_start else None))
            if self.session.budget and isinstance(event, Progress):
                self.session.budget.note(step, event.numbers)
            if is_start:
                self.session.record.start(step)
                if self.session.budget:
                    self.session.budget.start(step, self.means.clock.monotonic())
                self._begin_explaining(missing)

        self.logs[step] = job.step

        try:
            submission = Submission(job, self.means.store, self.spending.stop_of(step), on_event, wake)
            outcome = yield from self.means.runner.run(submission)
        except StoreUnreachable:
            raise
        except (StoreError, TemporaryError) as error:
            return Outcome("temporary", message=str(error))
        if outcome.unreachable:
            raise StoreUnreachable(outcome.message)
        return outcome

    def _begin_explaining(self, missing: StepState) -> None:
        """Explain once why a step runs, while it runs: earlier artifacts and graphs are read for that."""
        if missing.step not in self._explained:
            self._explained.add(missing.step)
            self.explainers.submit(self._explain, missing)

    def _explain(self, missing: StepState) -> None:
        if self.cancel.is_set():
            return
        step, explain = missing.step, self.means.explain
        reasons: Sequence[str] = missing.reasons if missing.manifest else ()
        try:
            if explain and missing.parts and not reasons:
                reasons = explain(self.session, step, missing.parts)
        except Exception:  # it stops nothing
            _log.warning("why %s runs cannot be explained", step.label, exc_info=True)
        reason = "; ".join(reasons) or NO_RESULT
        self.session.record.note_reason(step, reason)
        self.emit(StepEvent(step, Explained(reason)))

    def _unpaid(self, step: Step, refusal: str) -> Outcome:
        """Return the outcome of an attempt that the budget does not let begin, or go on."""
        self.unpaid.add(step)
        again = f"translations rerun {self.session.run[:8]}"
        message = f"{refusal}. Finished results are kept. To continue with the same budget again: {again}"
        return Outcome("failed", message=message)

    def _reach(self, step: Step, begin: Callable[[], Work[T]]) -> Work[T]:
        """Do what a step needs the store for; wait for a store that is away, which is reported once."""
        cancelled, report = self.cancel.is_set, partial(self._retry, step)
        try:
            return (yield from patiently(begin, RUN_SECONDS, cancelled, report, self.means.clock))
        except StoreUnreachable as error:
            if self.cancel.is_set():
                raise RunCancelled(f"The run was cancelled while it waited: {error}") from error
            raise

    def _retry(self, step: Step, message: str) -> None:
        self.emit(StepEvent(step, Retry(message)))

    def _job(self, missing: StepState) -> Job:
        """The next attempt; earlier runs may have made some."""
        step, parts, session, store = missing.step, missing.parts, self.session, self.means.store
        assert parts is not None  # a result that is given does not run
        return make_job(
            step,
            parts,
            _stored_inputs(step, parts, session.results.inputs(step), session.keys, store),
            bundle=store.add_bytes(session.keys.bundle(step.script)),
            generation=missing.generation,
            attempt=max(store.attempts(parts.digest, missing.generation), default=0) + 1,
            machine=session.machine(step.stage),
            provenance=Provenance(
                run=session.run,
                partition=session.partition,
                config=session.config_blob,
                options=session.options,
                revision=self.means.revision,
            ),
        )


def _stored_inputs(
    step: Step, parts: KeyParts, inputs: Mapping[Output, Blob], keys: KeyMaker, store: Store
) -> dict[str, Blob]:
    """Path → contents of all that a step reads, in the store: a worker anywhere finds them there.

    `inputs` are those of the outputs; files, whose digests are among the parts of the key, are stored here.
    Raises TranslationsError for a file that is gone, or is not any more what the key stands for.
    """
    contents = {}
    for path, handle in step.files().items():
        if isinstance(handle, Output):
            contents[path] = inputs[handle]
        elif isinstance(handle, RepoFile):
            contents[path] = store.add_bytes(keys.repo_bytes(handle))
        else:
            contents[path] = _stored(handle, parts.inputs[path], store)
    return contents


def _stored(file: LocalFile, digest: str, store: Store) -> Blob:
    path = Path(file.path)
    if not path.is_file():
        raise TranslationsError(f"{path}, which the training config names, is gone. Put it back.")
    blob = store.add_blob(path)
    if blob.digest != digest:
        raise TranslationsError(f"{path} changed while the run went on. Start the run again.")
    return blob
