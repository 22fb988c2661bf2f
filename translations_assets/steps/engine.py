"""The engine: runs the steps of a stage that have no result yet, several at once, and never one twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Literal

from translations_assets.steps.command import make_job
from translations_assets.steps.errors import Cancelled, StepFailed, TranslationsError
from translations_assets.steps.job import JobEvent, Outcome
from translations_assets.steps.key import KeyParts
from translations_assets.steps.manifest import Blob, Manifest
from translations_assets.steps.plan import missing_outputs
from translations_assets.steps.protocols import Runner, Store
from translations_assets.steps.session import Session
from translations_assets.steps.step import Output, RepoFile, Step, placed

MAX_THREADS = 64  # steps that wait for a slot at once; the runner's slots decide how many run
RETRY_SECONDS = 2.0  # pause before the second attempt; doubles with every further one
LOG_LINES = 20


@dataclass(frozen=True)
class StepEvent:
    """Something that happened to a step, for whoever shows progress.

    cached, done  detail: {}; started, progress  detail as in JobEvent; retry, failed  detail: {"message"}
    """

    kind: Literal["cached", "started", "progress", "done", "retry", "failed", "cancelled"]
    step: Step
    detail: Mapping[str, Any] = field(default_factory=dict)


Listener = Callable[[StepEvent], None]


@dataclass(frozen=True)
class StepResult:
    """A finished step: its manifest, and whether it was there before."""

    step: Step
    manifest: Manifest
    cached: bool


@dataclass(frozen=True)
class Engine:
    """Runs steps by a runner and finds them in a store.

    provenance  what every manifest of this run records besides its key's parts (code revision, config …)
    """

    store: Store
    runner: Runner
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def run(
        self, session: Session, steps: Sequence[Step], cancel: threading.Event, listener: Listener
    ) -> list[StepResult]:
        """Give every step a result: found by its key, or made now. Steps of other stages must be findable.

        A failing step does not stop its siblings. Raises StepFailed when a step failed, naming each;
        Cancelled when `cancel` was set; UpstreamMissing when an input was never made.
        """
        mine = set(steps)
        session.need([up for step in steps for up in step.upstream() if up not in mine])
        return _Execution(self, session, steps, cancel, listener).finish()


class _Execution:
    """One call of `Engine.run`: this thread finds cached steps, the threads of a pool run the rest."""

    def __init__(
        self,
        engine: Engine,
        session: Session,
        steps: Sequence[Step],
        cancel: threading.Event,
        listener: Listener,
    ) -> None:
        self.engine, self.session, self.cancel, self.listener = engine, session, cancel, listener
        self.waiting = list(steps)
        self.order = {step: number for number, step in enumerate(steps)}
        self.results: dict[Step, StepResult] = {}
        self.running: dict[Future[Outcome], Step] = {}
        self.failures: list[str] = []

    def finish(self) -> list[StepResult]:
        with ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="step") as pool:
            self._start_ready(pool)
            while self.running:
                done, _ = wait(self.running, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in done:
                    self._finished(self.running.pop(future), future.result())
                if done:
                    self._start_ready(pool)
        if self.failures:
            raise StepFailed("\n\n".join(self.failures))
        if self.cancel.is_set() and self.waiting:
            raise Cancelled(f"The run was cancelled; {len(self.waiting)} steps were not run.")
        return sorted(self.results.values(), key=lambda result: self.order[result.step])

    def _start_ready(self, pool: ThreadPoolExecutor) -> None:
        """Find or start every step whose inputs are known, until no more becomes ready."""
        to_start: list[tuple[Step, KeyParts, int, str]] = []
        while ready := self._ready():
            for step in ready:
                self.waiting.remove(step)
                if (missing := self._find(step)) is not None:
                    to_start.append((step, *missing))
        if to_start and not self.cancel.is_set():
            self.session.write_down()  # what is used is on record before anything new is made from it
            for step, parts, generation, reason in to_start:
                self.running[pool.submit(self._run, step, parts, generation, reason)] = step
        elif to_start:
            self.waiting += [step for step, *_ in to_start]

    def _ready(self) -> list[Step]:
        if self.cancel.is_set():
            return []
        return [
            step
            for step in self.waiting
            if all(self.session.result(up) is not None for up in step.upstream())
        ]

    def _find(self, step: Step) -> tuple[KeyParts, int, str] | None:
        """Note the step's result when the store has it; else how to make it: key, generation, reason."""
        session, store = self.session, self.engine.store
        parts = session.keys.parts(step, session.inputs(step))
        manifest = store.latest(parts.digest)
        if manifest is None:
            return parts, 1, "no result for its key"
        if step.stage in session.repeat and session.result(step) is None:
            return parts, manifest.generation + 1, f"told to repeat the stage {step.stage}"
        missing = missing_outputs(manifest, store)
        if not missing:
            self._note(step, manifest, cached=True)
            return None
        reason = f"{', '.join(missing)} is missing from the store or damaged"
        if step.repeatable:
            return parts, manifest.generation + 1, reason
        self._failed(
            step,
            f"{step.label} is lost: {reason}, and it cannot be repeated byte by byte. To make it again, with "
            f"all that follows: translations train {session.partition} --start {step.stage}",
        )
        return None

    def _run(self, step: Step, parts: KeyParts, generation: int, reason: str) -> Outcome:
        """All attempts of a step, in a thread of the pool."""
        try:
            return self._attempts(step, parts, generation, reason)
        except TranslationsError as error:
            return Outcome("failed", message=str(error))

    def _attempts(self, step: Step, parts: KeyParts, generation: int, reason: str) -> Outcome:
        store = self.engine.store
        contents = self._contents(step)
        bundle = store.add_bytes(self.session.keys.bundle(step.script))
        provenance = {"run": self.session.run, "partition": self.session.partition, **self.engine.provenance}
        first = max(store.attempts(parts.digest, generation), default=0) + 1
        for attempt in range(first, first + step.attempts):
            job = make_job(
                step,
                parts,
                contents,
                bundle=bundle,
                generation=generation,
                attempt=attempt,
                reason=reason,
                provenance=provenance,
            )
            outcome = self.engine.runner.run(job, store, self.cancel, lambda event: self._event(step, event))
            last = attempt == first + step.attempts - 1
            if outcome.kind != "temporary" or last:
                return outcome
            self.listener(StepEvent("retry", step, {"message": outcome.message}))
            self.cancel.wait(RETRY_SECONDS * 2 ** (attempt - first))
            if self.cancel.is_set():
                return Outcome("cancelled", message="cancelled before another attempt")
        raise AssertionError("a step has at least one attempt")

    def _contents(self, step: Step) -> dict[Output | RepoFile, Blob]:
        contents: dict[Output | RepoFile, Blob] = {}
        contents.update(self.session.inputs(step))
        for handles in step.inputs.values():
            for _, handle in placed(handles):
                if isinstance(handle, RepoFile):
                    contents[handle] = self.engine.store.add_blob(self.session.keys.root / handle.path)
        return contents

    def _event(self, step: Step, event: JobEvent) -> None:
        self.listener(StepEvent(event.kind, step, event.detail))

    def _finished(self, step: Step, outcome: Outcome) -> None:
        if outcome.kind == "done" and outcome.manifest is not None:
            self._note(step, outcome.manifest, cached=False)
        elif outcome.kind == "cancelled":
            self.waiting.append(step)
            self.listener(StepEvent("cancelled", step))
        else:
            self._failed(step, self._explain(step, outcome))

    def _note(self, step: Step, manifest: Manifest, *, cached: bool) -> None:
        self.session.set_result(step, manifest)
        self.results[step] = StepResult(step, manifest, cached)
        self.listener(StepEvent("cached" if cached else "done", step))

    def _failed(self, step: Step, message: str) -> None:
        self.failures.append(message)
        self.listener(StepEvent("failed", step, {"message": message}))

    def _explain(self, step: Step, outcome: Outcome) -> str:
        tail = "\n".join(f"    {line}" for line in outcome.log_tail.splitlines()[-LOG_LINES:])
        return (
            f"The step {step.label} failed: {outcome.message}\n{tail}\n"
            f"Its whole log: translations logs {self.session.partition} {step.label}"
        )
