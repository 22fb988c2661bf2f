"""The engine: runs the steps of a stage that have no result yet, several at once, and never one twice."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from graphlib import TopologicalSorter

from translations_assets.common.errors import FailedStep, RunCancelled, StepFailed, TranslationsError
from translations_assets.graph.step import Step
from translations_assets.records.manifest import Manifest
from translations_assets.running import events
from translations_assets.running.attempts import Attempts, Means
from translations_assets.running.budget import Spending
from translations_assets.running.events import Listener, StepEvent, StepResult
from translations_assets.running.failure import lost_inputs, names, told, why_ended
from translations_assets.running.job import Outcome
from translations_assets.running.resolve import Map, StepState, parallel_map
from translations_assets.running.session import Session
from translations_assets.running.tasks import RUN_SECONDS, Tasks, when_reachable

EXPLAINERS = 8  # steps that are explained at once: mostly they wait for the store
THREADS = 64  # steps that are looked after at once; one that waits, or that a runner runs, needs none
FIRST_STEPS = 64  # that are looked up before some start; twice as many each further time
LOOK_SECONDS = 0.5  # how often it is looked whether the run is cancelled

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Engine(Means):
    """Runs steps by a runner and finds them in a store."""

    def run(
        self, session: Session, steps: Sequence[Step], cancel: threading.Event, listener: Listener
    ) -> list[StepResult]:
        """Give every step a result: found by its key, or made now. Steps of other stages must be findable.

        A failing step does not stop its siblings. Raises StepFailed when a step failed, naming each;
        RunCancelled when `cancel` was set; UpstreamMissing when an input was never made. The listener is
        called from several threads; what it raises is logged and changes nothing.

        >>> [result.step.label for result in engine.run(session, graph.steps, cancel, listener)]
        ['write-a', 'write-b', 'join', 'count']
        """
        mine = set(steps)
        others = [up for step in steps for up in step.upstream() if up not in mine]
        pause = partial(self.clock.wait, cancel)
        when_reachable(lambda: session.results.need(others), RUN_SECONDS, pause, _log.warning, self.clock)
        return _Execution(self, session, steps, cancel, listener).finish()


class _Execution:
    """One call of `Engine.run`: this thread finds cached steps and begins the rest, as tasks."""

    def __init__(
        self,
        engine: Engine,
        session: Session,
        steps: Sequence[Step],
        cancel: threading.Event,
        listener: Listener,
    ) -> None:
        self.engine, self.session, self.cancel, self.listener = engine, session, cancel, listener
        self.order = {step: number for number, step in enumerate(steps)}
        # steps of other stages have their results already
        before = {step: [up for up in step.upstream() if up in self.order] for step in steps}
        self.sorter = TopologicalSorter(before)
        self.sorter.prepare()
        self.ready = deque(self.sorter.get_ready())
        self.results: dict[Step, StepResult] = {}
        self.failures: list[FailedStep] = []
        self.woken = False  # whether the tasks have been woken to see that the run is cancelled
        self.resolver = session.results.resolver()
        self.spending = Spending(session.budget, cancel, self._overdrawn)

    def finish(self) -> list[StepResult]:
        clock = self.engine.clock
        with (
            parallel_map(self.engine.store) as look_up,
            clock.pool(EXPLAINERS, "explain") as explainers,
            clock.pool(THREADS, "step") as pool,
        ):
            self.attempts = Attempts(
                self.engine, self.session, self.cancel, self.spending, explainers, self._emit
            )
            tasks: Tasks[Step, Outcome] = Tasks(pool, clock)
            try:
                self._run_all(tasks, look_up)
            except BaseException:
                self.cancel.set()  # an interrupt: what runs has to end
                while tasks:
                    self._wait(tasks)
                raise
        if self.failures:
            raise StepFailed(self.failures)
        left = [step for step in self.order if step not in self.results]
        if self.cancel.is_set() and left:
            raise RunCancelled(f"The run was cancelled. Not made: {names(left)}.")
        results = (
            replace(each, reason=self.session.record.reason(each.step)) for each in self.results.values()
        )
        return sorted(results, key=lambda result: self.order[result.step])

    def _run_all(self, tasks: Tasks[Step, Outcome], look_up: Map) -> None:
        """Find or start every step whose inputs are known, until no more becomes ready.

        Some start before the others are looked up; more each time, as what is used is put on record before.
        """
        most = FIRST_STEPS
        while tasks or self._is_looking:
            if to_start := self._to_start(look_up, most):
                self._start(tasks, to_start)
                most *= 2
            for step, outcome in self._wait(tasks) if tasks else ():
                self._finished(step, outcome)

    @property
    def _is_looking(self) -> bool:
        """True if steps may be ready to start."""
        return bool(self.ready) and not self.cancel.is_set()

    def _wait(self, tasks: Tasks[Step, Outcome]) -> list[tuple[Step, Outcome]]:
        """Wait until something is to do for the tasks, and have it done; those that have ended."""
        self.engine.clock.wait(tasks.changed, 0.0 if self._is_looking else min(tasks.pause, LOOK_SECONDS))
        over = self.spending.look(self.engine.clock.monotonic())
        if over or (self.cancel.is_set() and not self.woken):
            self.woken = self.cancel.is_set()
            tasks.wake()
        return list(tasks.advance())

    def _to_start(self, look_up: Map, most: int) -> list[StepState]:
        """Steps that are to run, about so many at most, of those whose inputs are known."""
        to_start: list[StepState] = []
        while len(to_start) < most and self._is_looking:
            steps = [self.ready.popleft() for _ in range(min(most, len(self.ready)))]
            for step, missing in zip(steps, look_up(self._look_up, steps), strict=True):
                to_start += missing
                self._release(step)
        return to_start

    def _release(self, step: Step) -> None:
        """Make the steps ready that have only waited for a step, if that has its result now."""
        if step in self.results:
            self.sorter.done(step)
            self.ready.extend(self.sorter.get_ready())

    def _start(self, tasks: Tasks[Step, Outcome], to_start: Sequence[StepState]) -> None:
        steps = [missing.step for missing in to_start]
        if self.cancel.is_set():
            return
        self.session.record.begin({each.step: (each.key or "", each.generation) for each in to_start})
        with self._failing(steps, "was not started"):
            # what is used is on record before anything new is made from it
            self.attempts.reach_now(steps[0], self.session.record.write)
            for missing in to_start:
                tasks.add(missing.step, partial(self.attempts.run, missing))

    def _look_up(self, step: Step) -> list[StepState]:
        """The step, when it has to run."""
        missing = None
        with self._failing([step], "cannot be looked up"):
            missing = self.attempts.reach_now(step, lambda: self._find(step))
        return [missing] if missing else []

    @contextmanager
    def _failing(self, steps: Sequence[Step], how: str) -> Iterator[None]:
        """Let an error of the store fail these steps and no other; cancelled, they are left."""
        try:
            yield
        except RunCancelled:
            pass
        except TranslationsError as error:
            for step in steps:
                self._failed(step, f"The step {step.label} {how}: {error}")

    def _find(self, step: Step) -> StepState | None:
        """Note the step's result when one counts; else how to make it."""
        found = self.resolver.resolve(step, self.session.results.outputs)
        if found.status == "run":
            return found
        if found.manifest is None or (found.status == "lost" and not self.session.is_spent(step)):
            self._failed(step, self._lost(step, "; ".join(found.reasons)), is_lost=True)
            return None
        if found.status == "lost":
            warning = f"{step.label} is lost ({found.reasons[0]}); everything made from it is intact."
            self.session.results.warn(warning)
        self._note(step, found.manifest, cached=True)
        return None

    def _lost(self, step: Step, reason: str) -> str:
        return (
            f"{step.label} is lost: {reason}. It cannot be repeated byte by byte. To make it again, with "
            f"everything made from it: translations train {self.session.partition} --repair"
        )

    def _overdrawn(self, step: Step, words: str) -> None:
        run = self.session.run[:8]
        message = f"{words}. To stop the run: translations cancel {run}. --hard-budget stops such steps"
        self._emit(StepEvent(step, events.Notice(f"{message}.")))

    def _emit(self, event: StepEvent) -> None:
        try:
            self.listener(event)
        except Exception:
            _log.warning("Showing %s of %s failed.", event.what.kind, event.step.label, exc_info=True)

    def _finished(self, step: Step, outcome: Outcome) -> None:
        if outcome.kind == "done" and outcome.manifest is not None:
            self._note(step, outcome.manifest, cached=False)
            self._release(step)
        elif outcome.kind == "cancelled":
            self._emit(StepEvent(step, events.Cancelled()))
        else:
            lost = lost_inputs(step, self.session, self.engine.store)
            message = "\n".join([told(step.label, outcome), *lost])
            self._failed(step, message, why_ended(outcome))

    def _note(self, step: Step, manifest: Manifest, *, cached: bool) -> None:
        self.session.results.set_result(step, manifest, made=not cached)
        self.results[step] = StepResult(step, manifest, cached)
        self._emit(StepEvent(step, events.Cached(manifest) if cached else events.Done(manifest)))

    def _failed(self, step: Step, message: str, why: str = "", *, is_lost: bool = False) -> None:
        self.session.record.fail(step, why or message)
        log, command = self.attempts.logs.get(step), self.session.command("logs", step.label)
        failure = FailedStep(
            step.label, message, command if log else "", log, is_lost, step in self.attempts.unpaid
        )
        self.failures.append(failure)
        self._emit(StepEvent(step, events.Failed(str(failure)), log))
