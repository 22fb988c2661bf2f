"""A cluster in virtual time: pods of the deployment's worker classes, for which a step takes what it needs.

The engine is the real one, and so are graph, keys and store. In place of the Kubernetes runner stands one
that hands out what the deployment file allows (pods in all and by class, steps a pod, spot and standard
machines), starts pods late, and loses spot machines; a stage begins when all it reads and the checks of that
have ended, as in Dagster.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random

from benchmarks.scale.needs import Need, class_of
from tests.virtual_clock import VirtualClock
from translations_assets.config.deployment import Kubernetes, Machine, WorkerClassName
from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.records.manifest import Manifest
from translations_assets.running.job import Outcome
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work

COLLECT_SECONDS = 0.3  # as in runners.batch.waited_job
NEVER = 1e12
HOUR = 3600.0


@dataclass(frozen=True)
class Conditions:
    """Conditions of a cluster, besides its deployment file. All of it is assumed.

    gpus         of all machines together
    start        seconds from a pod's creation to its first command: a machine, the image
    preemptions  of a spot machine in an hour
    """

    gpus: int
    start: float = 180.0
    preemptions: float = 0.05
    seed: int = 1


@dataclass(eq=False)
class Pod:
    """A pod, and what it was used for.

    begun, ended  of the time that is paid: from its machine's start
    computing     seconds in which its GPUs computed
    """

    stage: str
    worker_class: WorkerClassName
    machine: Machine
    gpus: int
    tickets: list[_Ticket] = field(default_factory=list)
    begun: float = 0.0
    ended: float = 0.0
    computing: float = 0.0
    preempted: bool = False

    @property
    def hours(self) -> float:
        """That are paid."""
        return (self.ended - self.begun) / HOUR


@dataclass(eq=False)
class _Ticket:
    step: Step
    submission: Submission
    outcome: Outcome | None = None


class SimulatedCluster:
    """A `Runner` whose pods pass the time."""

    def __init__(
        self,
        kubernetes: Kubernetes,
        graph: Graph,
        needs: Mapping[Step, Need],
        conditions: Conditions,
        clock: VirtualClock,
    ) -> None:
        self.pods: list[Pod] = []
        self._kubernetes, self._graph, self._needs = kubernetes, graph, needs
        self._conditions, self._clock = conditions, clock
        self._left = {stage: len(steps) for stage, steps in graph.stages.items()}
        self._held: list[_Ticket] = []  # of stages that may not begin yet
        self._open: dict[tuple[str, WorkerClassName, Machine], Pod] = {}
        self._queue: list[tuple[Pod, threading.Event]] = []
        self._running: list[Pod] = []
        self._done: dict[Step, float] = {}  # seconds of work that outlive an attempt
        self._lost: dict[Step, int] = {}  # attempts that lost their machine

    def run(self, submission: Submission) -> Work[Outcome]:
        """One attempt; see `running.runner.Runner`."""
        ticket = _Ticket(self._graph.step(submission.job.label), submission)
        if self._may_begin(ticket.step.stage):
            self._board(ticket)
        else:
            self._held.append(ticket)
        while ticket.outcome is None:
            yield NEVER
        return ticket.outcome

    def _may_begin(self, stage: str) -> bool:
        needed = set(self._graph.upstream[stage])
        if stage not in self._graph.checks:
            needed |= {check for check, judged in self._graph.checks.items() if judged in needed}
        return not any(self._left[name] for name in needed - {stage})

    def _board(self, ticket: _Ticket) -> None:
        """Take the step into a pod that collects steps of its stage, or into a new one."""
        step, kubernetes = ticket.step, self._kubernetes
        name = class_of(kubernetes, step)
        worker_class = kubernetes.worker_classes[name]
        is_tired = self._lost.get(step, 0) >= kubernetes.max_preemptions
        machine = worker_class.machine_for("standard" if is_tired else ticket.submission.job.machine)
        kind = step.stage, name, machine
        pod = self._open.get(kind)
        if pod is None:
            pod = self._open[kind] = Pod(step.stage, name, machine, worker_class.gpus)
            self._clock.start("pod", self._pod(pod, kind, wake := threading.Event()), wake)
        pod.tickets.append(ticket)
        most = kubernetes.stage(step.stage).steps_per_pod or worker_class.steps_per_pod
        if len(pod.tickets) == most:
            del self._open[kind]

    def _pod(
        self, pod: Pod, kind: tuple[str, WorkerClassName, Machine], wake: threading.Event
    ) -> Iterator[float]:
        """All that happens in a pod, which waits between."""
        yield COLLECT_SECONDS
        if self._open.get(kind) is pod:
            del self._open[kind]
        self._queue.append((pod, wake))
        self._hand_out()
        while pod not in self._running:
            yield NEVER
        wake.clear()  # what is set wakes at once, for ever
        pod.begun = now = self._clock.monotonic()
        self.pods.append(pod)
        lost_at = now + self._life(pod)
        yield min(self._conditions.start, lost_at - now)
        for ticket in pod.tickets:
            yield from self._attempt(pod, ticket, lost_at)
        pod.ended = self._clock.monotonic()
        self._running.remove(pod)
        self._hand_out()

    def _life(self, pod: Pod) -> float:
        """Seconds until its machine is taken away."""
        rate = self._conditions.preemptions if pod.machine == "spot" else 0.0
        first = pod.tickets[0]
        random = Random(f"{self._conditions.seed} {first.step.label} {first.submission.job.attempt}")
        return random.expovariate(rate) * HOUR if rate else math.inf

    def _attempt(self, pod: Pod, ticket: _Ticket, lost_at: float) -> Iterator[float]:
        need, done = self._needs[ticket.step], self._done.get(ticket.step, 0.0)
        begun = self._clock.monotonic()
        seconds = max(0.0, min(need.seconds - done, lost_at - begun))
        yield seconds
        worked = min(max(0.0, seconds - need.preparing), need.working - done)
        pod.computing += worked * need.busy
        if begun + need.seconds - done <= lost_at:
            self._finish(ticket)
            return
        pod.preempted = True
        if need.keeps is not None:
            self._done[ticket.step] = done + worked - (worked % need.keeps if need.keeps else 0.0)
        self._lost[ticket.step] = self._lost.get(ticket.step, 0) + 1
        self._end(ticket, Outcome("temporary", message="the machine was taken away"))

    def _finish(self, ticket: _Ticket) -> None:
        job, store = ticket.submission.job, ticket.submission.store
        manifest = Manifest(
            key=job.key,
            generation=job.generation,
            outputs={name: store.add_bytes(f"{job.label} {name}".encode()) for name in job.outputs},
            label=job.label,
            bundle=job.bundle,
            provenance=job.provenance,
            attempt=job.attempt,
            host="",
            started=0.0,
            ended=self._clock.monotonic(),
        )
        self._left[ticket.step.stage] -= 1
        self._end(ticket, Outcome("done", store.commit(manifest)))
        held, self._held = self._held, []
        for waiting in held:
            if self._may_begin(waiting.step.stage):
                self._board(waiting)
            else:
                self._held.append(waiting)

    def _end(self, ticket: _Ticket, outcome: Outcome) -> None:
        ticket.outcome = outcome
        ticket.submission.wake()

    def _hand_out(self) -> None:
        """Let pods run for which there is room, those that have waited longest first."""
        for pod, wake in list(self._queue):
            if self._has_room(pod):
                self._queue.remove((pod, wake))
                self._running.append(pod)
                wake.set()

    def _has_room(self, pod: Pod) -> bool:
        of_class = self._kubernetes.worker_classes[pod.worker_class].max_jobs or math.inf
        same = sum(other.worker_class == pod.worker_class for other in self._running)
        gpus = sum(other.gpus for other in self._running) + pod.gpus
        return (
            len(self._running) < self._kubernetes.max_jobs
            and same < of_class
            and (not pod.gpus or gpus <= self._conditions.gpus)
        )
