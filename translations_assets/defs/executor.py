"""Runs the steps of a Dagster run (an asset each) in threads of the run's own process.

An asset only orchestrates: it looks keys up and waits for scripts that run elsewhere, so threads are right.
Dagster's default executor starts a process that imports everything again for every asset (seconds each);
its in-process executor runs one asset at a time.

What holds for Dagster's in-process executor holds here: resources are made once per run and shared, output is
captured once for the whole process; failures, skips, asset checks, retries, hooks, priorities and pools are
alike. Only these differ, because several steps run in one process:

* Resources must be safe to use from several threads.
* Log through `context.log`. Records of other loggers that Dagster captures (`get_dagster_logger()`,
  `managed_python_loggers`) are attributed to every step that runs at that moment.
* Assets are plain functions: `async` ones would share one event loop, which runs one at a time.
* Signals reach the main thread only. An asset that waits must watch `cancel_event(context.run.run_id)`.

Stopping a run. Ctrl-C, SIGTERM, and Terminate in the UI (which also works for runs that the command line
started: the run's status is looked up twice a second) all do the same: no further step starts, the cancel
event is set, running steps get ten seconds to end, the run is CANCELED. A second signal changes nothing. A
step that does not end in time is left behind with its thread, which cannot keep the process from ending.

tests/test_private_dagster.py lists what is used of Dagster's private modules, with the reasons.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeAlias

from dagster import (
    DagsterEvent,
    DagsterExecutionInterruptedError,
    DagsterInstance,
    DagsterInvariantViolationError,
    DagsterRunStatus,
    Executor,
    Field,
    InitExecutorContext,
    StepExecutionContext,
    executor,
    in_process_executor,
    multiprocess_executor,
)

# Makes a run's context, runs an iterator over it, and clears up, with interrupts captured throughout.
from dagster._core.execution.api import ExecuteRunWithPlanIterable

# Makes the resources once for the whole run.
from dagster._core.execution.context_creation_job import PlanExecutionContextManager

# Runs one step and tells what happened; and its success and failure hooks.
from dagster._core.execution.plan.execute_plan import _trigger_hook, dagster_event_sequence_for_step

# The instance's pools: which slots the run waits for and holds.
from dagster._core.execution.plan.instance_concurrency_context import InstanceConcurrencyContext

from translations_assets.defs.captured_output import with_captured_output
from translations_assets.defs.endings import ToldCancellation
from translations_assets.defs.engine_events import engine_event
from translations_assets.instance.process_id import PROCESS_TAG, this_process

# Dagster's own types of what it hands in, which have no public names.
Context: TypeAlias = Any  # the run
Plan: TypeAlias = Any  # the graph of its steps
Active: TypeAlias = Any  # decides which step may start, is skipped or is tried again

_OPTIONS: Any = multiprocess_executor.config_schema.as_field().config_type
"""Those of Dagster's own executors, by name, in `fields`."""
_POLL_SECONDS = 0.2
"""How long the main thread waits for news before it looks for signals and due retries."""
_STATUS_SECONDS = 0.5
"""How often the run's status is looked up (some milliseconds), for a Terminate that no signal announces."""
_GRACE_SECONDS = 10.0
"""How long running steps have to end when the run is stopped."""

_logger = logging.getLogger(__name__)

_cancel_events: dict[str, threading.Event] = {}


def cancel_event(run_id: str) -> threading.Event:
    """The event that is set when the run is to stop. Ask for it once, when the asset starts.

    An asset that sees it set ends what it started and raises `DagsterExecutionInterruptedError`.
    For a run that the threaded executor does not run in this process (`dagster.materialize` in a test) the
    event is never set: there the signal interrupts the asset itself.
    """
    return _cancel_events.get(run_id) or threading.Event()


def is_canceled(instance: DagsterInstance, run_id: str) -> bool:
    """True if the stored run is being canceled, or is."""
    try:
        run = instance.get_run_by_id(run_id)
    except Exception as error:  # a look-up that fails once must not end days of training
        _logger.warning("cannot look up the run's status, trying again later: %s", error)
        return False
    return run is not None and run.status in (DagsterRunStatus.CANCELING, DagsterRunStatus.CANCELED)


@executor(
    name="threaded",
    config_schema={
        "max_concurrent": Field(
            int, default_value=16, description="How many assets may be in progress at the same time."
        ),
        **{name: _OPTIONS.fields[name] for name in ("retries", "tag_concurrency_limits")},
    },
)
def threaded_executor(context: InitExecutorContext) -> Executor:
    """Runs assets in threads of the run's process."""
    config: dict[str, Any] = dict(context.executor_config)
    if config["max_concurrent"] < 1:
        raise DagsterInvariantViolationError(
            f"execution: max_concurrent is {config['max_concurrent']}; it must be at least 1"
        )
    like_dagsters: Any = in_process_executor.executor_creation_fn  # reads the same options
    return ThreadedExecutor(
        max_concurrent=config["max_concurrent"],
        retries=like_dagsters(context).retries,
        tag_concurrency_limits=config.get("tag_concurrency_limits", []),
    )


class ThreadedExecutor(Executor):
    """See the module. `tag_concurrency_limits` is in the form of Dagster's multiprocess executor."""

    def __init__(
        self, max_concurrent: int, retries: Any, tag_concurrency_limits: list[dict[str, Any]]
    ) -> None:
        self._max_concurrent = max_concurrent
        self._retries = retries
        self._tag_concurrency_limits = tag_concurrency_limits

    @property
    def retries(self) -> Any:
        """The mode in which Dagster applies the steps' retry policies."""
        return self._retries

    def execute(self, plan_context: Context, execution_plan: Plan) -> Iterator[DagsterEvent]:
        """Run the plan. Called by Dagster, once per run."""
        keys = execution_plan.step_keys_to_execute
        pid = os.getpid()
        plan_context.instance.add_run_tags(
            plan_context.run_id, {PROCESS_TAG: this_process(plan_context.run_id)}
        )
        yield engine_event(
            plan_context,
            f"Executing steps in threads of one process (pid: {pid})",
            {"pid": str(pid), "step_keys": str(keys)},
        )
        try:
            yield from ExecuteRunWithPlanIterable(
                execution_plan=execution_plan,
                iterator=self._run_steps,
                execution_context_manager=PlanExecutionContextManager(
                    job=plan_context.job,
                    execution_plan=execution_plan,
                    run_config=plan_context.run_config,
                    dagster_run=plan_context.dagster_run,
                    instance=plan_context.instance,
                    retry_mode=plan_context.retry_mode,
                    raise_on_error=plan_context.raise_on_error,
                    output_capture=plan_context.output_capture,
                    step_dependency_config=plan_context.executor.step_dependency_config,
                ),
            )
        except (DagsterExecutionInterruptedError, KeyboardInterrupt):
            _report_canceling(plan_context.instance, plan_context.run_id)
            raise

    def _run_steps(self, job_context: Context, execution_plan: Plan) -> Iterator[DagsterEvent]:
        with ExitStack() as stack:
            cancel = _cancel_events[job_context.run_id] = threading.Event()
            stack.callback(_cancel_events.pop, job_context.run_id)
            slots = InstanceConcurrencyContext(job_context.instance, job_context.dagster_run)
            stack.enter_context(slots)
            active = execution_plan.start(
                retry_mode=self._retries,
                max_concurrent=self._max_concurrent,
                tag_concurrency_limits=self._tag_concurrency_limits,
                instance_concurrency_context=slots,
            )
            stack.enter_context(active)
            steps = _Steps(job_context, active, slots, cancel)
            yield from with_captured_output(job_context, execution_plan.step_keys_to_execute, steps.events())


@dataclass(frozen=True)
class _Report:
    """A message of a step's thread to the main thread: an event, or the step's end, with its error.

    A step's last event comes together with its end: it may make the step ready for its next attempt, which
    must not start before this one is done.
    """

    step_key: str
    event: DagsterEvent | None
    ended: bool = False
    error: BaseException | None = None


@dataclass
class _Steps:
    """The steps of one run. All methods but `_run` belong to the main thread."""

    job_context: Context
    active: Active
    slots: InstanceConcurrencyContext
    cancel: threading.Event
    running: set[str] = field(default_factory=set)
    reports: SimpleQueue[_Report] = field(default_factory=SimpleQueue)
    next_look: float = field(default_factory=lambda: time.monotonic() + _STATUS_SECONDS)

    def events(self) -> Iterator[DagsterEvent]:
        """Start steps as they become ready and pass on their events until all have ended, or an interrupt."""
        try:
            while self.running or not self.active.is_complete:
                if self.active.check_for_interrupts() or self._is_canceled_from_outside():
                    yield engine_event(
                        self.job_context,
                        "Asked to stop: starting no further step; "
                        f"waiting up to {_GRACE_SECONDS:.0f} s for running ones",
                        {"steps_interrupted": str(sorted(self.running))},
                    )
                    raise ToldCancellation("Cancelled. What is finished is kept, and not made again.")
                yield from self._start_ready_steps()
                yield from self._next_event()
                yield from self.active.plan_events_iterator(self.job_context)
        finally:
            self.cancel.set()
            self._wait_for_running_steps()

    def _is_canceled_from_outside(self) -> bool:
        """True if the stored run is being canceled: the UI cannot signal a run it did not launch."""
        if time.monotonic() < self.next_look:
            return False
        self.next_look = time.monotonic() + _STATUS_SECONDS
        return is_canceled(self.job_context.instance, self.job_context.run_id)

    def _start_ready_steps(self) -> Iterator[DagsterEvent]:
        for step in self.active.get_steps_to_execute():
            context = self.job_context.for_step(step, self.active.get_known_state())
            self.running.add(step.key)
            # Dagster keeps settings of the caller in context variables, which a thread does not inherit.
            # A daemon thread, because a pool would make the process wait at its end for a step that hangs.
            target = copy_context().run
            threading.Thread(target=target, args=(self._run, context), name=step.key, daemon=True).start()
        yield from self.active.concurrency_event_iterator(self.job_context)

    def _run(self, context: StepExecutionContext) -> None:
        """Run one step, in its own thread. Its events are already stored when they are reported."""
        key = context.step.key
        events: list[DagsterEvent] = []
        error: BaseException | None = None
        try:
            for event in dagster_event_sequence_for_step(context):
                if events:
                    self.reports.put(_Report(key, events[-1]))
                events.append(event)
            for event in _trigger_hook(context, events):
                self.reports.put(_Report(key, event))
        except BaseException as raised:
            error = raised
        self.reports.put(_Report(key, events[-1] if events else None, ended=True, error=error))

    def _next_event(self) -> Iterator[DagsterEvent]:
        try:
            report = self.reports.get(timeout=_POLL_SECONDS)
        except Empty:
            return
        self._take(report)
        if report.event is not None:
            yield _without_error(report.event)
        if report.error is not None:
            raise report.error

    def _take(self, report: _Report) -> None:
        if report.event is not None:
            self.active.handle_event(report.event)
        if report.ended:
            self.running.remove(report.step_key)
            self.active.verify_complete(self.job_context, report.step_key)

    def _wait_for_running_steps(self) -> None:
        """Wait for steps to see the cancel event, and leave the others behind.

        Yields nothing: Dagster may be closing the generator.
        """
        deadline = time.monotonic() + _GRACE_SECONDS
        while self.running and time.monotonic() < deadline:
            try:
                self._take(self.reports.get(timeout=_POLL_SECONDS))
            except Empty:
                continue
        self.active.check_for_interrupts()  # forgets a second signal, which would break into the clearing up
        for key in sorted(self.running):
            self.slots.free_step(key)
            self.job_context.log.warning(f"{key} did not end within {_GRACE_SECONDS:.0f} s: left behind")


def _without_error(event: DagsterEvent) -> DagsterEvent:
    """The event, which is stored already; without an error that the end of the run would tell again."""
    if not event.is_step_failure:
        return event
    return event._replace(event_specific_data=event.step_failure_data._replace(error=None))


def _report_canceling(instance: DagsterInstance, run_id: str) -> None:
    """Say that the interrupt was meant, as Terminate in the UI does; else Dagster calls the run failed.

    Not for a run that is already marked, nor for one that the deployment resumes (a node going away).
    """
    run = instance.get_run_by_id(run_id)
    if run is None or run.is_finished or run.status is DagsterRunStatus.CANCELING:
        return
    if not instance.run_will_resume(run_id):
        instance.report_run_canceling(run, "The run's process was asked to stop.")
