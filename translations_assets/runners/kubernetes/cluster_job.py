"""One Job of the cluster, from asking for it to its end, and the steps of this process that wait for it."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from translations_assets.errors import StoreError
from translations_assets.runners.kubernetes.cluster import (
    AWAY_SECONDS,
    ClusterAway,
    ClusterError,
    Conflict,
)
from translations_assets.runners.kubernetes.connection import Slot, Tools
from translations_assets.runners.kubernetes.following import Following
from translations_assets.runners.kubernetes.jobs import Group, member
from translations_assets.runners.kubernetes.state import SPEC, JobState, Member
from translations_assets.runners.pod.bundle import worker_bundle
from translations_assets.runners.pod.wire import PodRequest
from translations_assets.runners.wire import Ending
from translations_assets.running.job import Job, JobEvent
from translations_assets.running.protocols import Store
from translations_assets.running.tasks import Wake
from translations_assets.store.open import reader_of

COLLECT_SECONDS = 0.3  # for the steps of a stage that become ready at the same time
_CANCEL_SECONDS = 6.0  # a run that is cancelled waits 10 for all of it
_GONE_PAUSE = 0.5
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Ticket:
    """What happens to a step in a job: events, then one ending, from the thread that follows the job.

    An exception in place of an ending: what kept the job from being followed.
    """

    job: Job
    wake: Wake
    replies: queue.SimpleQueue[JobEvent | Ending | Exception] = field(default_factory=queue.SimpleQueue)

    def reply(self, reply: JobEvent | Ending | Exception) -> None:
        """Note what has happened, and wake the work that waits for it."""
        self.replies.put(reply)
        self.wake()

    @property
    def step(self) -> tuple[str, int]:
        """What is made."""
        return self.job.key, self.job.generation


class ClusterJob:
    """A Job that this process asks for or has found; a thread of its own sees to it.

    found  the Job, when it is there already
    group  else: what the steps that may join have in common, and how many do
    """

    def __init__(
        self, tools: Tools, store: Store, *, found: JobState | None = None, group: Group | None = None
    ) -> None:
        self._tools, self._store, self._group = tools, store, group
        self._capacity = tools.descriptions.steps_per_pod(group) if group else 0
        self._state = found
        self._members: tuple[Member, ...] = found.members if found else ()
        self._lock = threading.RLock()
        self._tickets: list[Ticket] = []
        self._endings: dict[tuple[str, int], Ending] = {}
        self._is_open = found is None
        self.over = False  # no step waits any more, and none can join
        self._slot: Slot | None = None
        self._changed = threading.Event()

    def start(self, over: Callable[[ClusterJob], None]) -> None:
        """Begin; `over` is called when nothing is followed any more."""

        def live() -> None:
            try:
                self._live()
            finally:
                over(self)

        threading.Thread(target=live, name="cluster-job", daemon=True).start()

    @property
    def name(self) -> str:
        """The Job's name; empty before it has one."""
        return self._state.name if self._state else ""

    def join(self, job: Job, wake: Wake) -> Ticket:
        """A place for the step that the Job was made or found for."""
        with self._lock:
            self._tickets.append(ticket := Ticket(job, wake))
            return ticket

    def join_member(self, job: Job, wake: Wake) -> Ticket | None:
        """A place for a step that the Job makes, or will; None when it does not, or has done with it."""
        with self._lock:
            steps = {item.step for item in self._members} or {ticket.step for ticket in self._tickets}
            ticket = Ticket(job, wake)
            if self.over or ticket.step not in steps or ticket.step in self._endings:
                return None
            self._tickets.append(ticket)
            return ticket

    def join_group(self, job: Job, group: Group, wake: Wake) -> Ticket | None:
        """A place for one more step, in a Job that has not been asked for yet; None when there is none."""
        with self._lock:
            if not self._is_open or self.over or group != self._group or self._room() <= 0:
                return None
            self._tickets.append(ticket := Ticket(job, wake))
            if not self._room():
                self._changed.set()
            return ticket

    def was_found(self, job: Job) -> bool:
        """Whether this was another attempt than the one that was asked for."""
        return member(job) not in self._members

    def leave(self, ticket: Ticket) -> None:
        """Wait no longer, as the run was cancelled; the last one who waits for any of its steps ends the Job.

        Call it after leaving those who wait for the step in the store.
        """
        with self._lock:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
            self._unwanted()
            state = self._state
        self._changed.set()
        if state:
            self._end_unless_wanted(state, _CANCEL_SECONDS)

    def _room(self) -> int:
        return self._capacity - len({ticket.step for ticket in self._tickets})

    def _live(self) -> None:
        try:
            if self._state is None:
                self._state = self._launch()
            if self._state and self._unwanted():
                self._end_unless_wanted(self._state, AWAY_SECONDS)
            elif self._state:
                self._follow(self._state)
        except Exception as error:
            self._fail(error)
        finally:
            if self._slot:
                self._tools.limits.release(self._slot)

    # Asking for it
    def _launch(self) -> JobState | None:
        """Ask for the Job, once there is a slot for it; None when no step waits for it any more."""
        assert self._group is not None
        if self._capacity > 1:
            self._changed.wait(COLLECT_SECONDS)
        self._slot = self._tools.limits.take(self._group.worker_class, self._unwanted)
        jobs = self._close()
        if not jobs or not self._slot:
            return None
        body = self._describe(self._group, jobs)
        self._slot.name = body["metadata"]["name"]
        return self._create(body)

    def _unwanted(self) -> bool:
        """Whether no step waits; then none can join any more."""
        with self._lock:
            self.over = self.over or not self._tickets
            return self.over

    def _close(self) -> list[Job]:
        """Take no more steps; those that have come, in an order that does not depend on who came first."""
        with self._lock:
            self._is_open = False
            jobs = {ticket.step: ticket.job for ticket in self._tickets}
            ordered = [job for _, job in sorted(jobs.items())]
            self._members = tuple(map(member, ordered))
            return ordered

    def _describe(self, group: Group, jobs: list[Job]) -> dict[str, Any]:
        store, descriptions = self._store, self._tools.descriptions
        request = PodRequest(
            tuple(jobs),
            store.url,
            descriptions.gpus(group),
            group.machine,
            self._tools.kubernetes.files,
            self._tools.unsaved_minutes,
        )
        return descriptions.job(
            group,
            jobs,
            store.url,
            reader=reader_of(store),
            worker=store.add_bytes(worker_bundle()).digest,
            request=store.add_bytes(request.to_bytes()).digest,
            preemptions=max(self._tools.preemptions(store.url, item.step) for item in self._members),
        )

    def _create(self, body: dict[str, Any]) -> JobState | None:
        """Create the Job, or find that somebody has; one that has ended without a result makes way.

        None when no step waits for it any more.
        """
        metadata, cluster = body["metadata"], self._tools.cluster
        deadline = time.monotonic() + AWAY_SECONDS
        while True:
            try:
                return cluster.create_job(body, self._pause)
            except Conflict:
                there = cluster.job(metadata["name"])
            if there and there.live and there.spec == metadata["annotations"][SPEC]:
                return there
            if there and there.live:
                raise ClusterError(
                    f"The cluster has a job {there.name} that makes this attempt and is described otherwise: "
                    "another deployment file is in use. Wait for its end, or delete it: kubectl delete job "
                    f"--namespace {cluster.namespace} {there.name}"
                )
            if there and not there.deleting:
                cluster.delete_job(there)
            if time.monotonic() > deadline:
                raise ClusterAway(
                    f"The job {metadata['name']} has ended, but the cluster does not delete it."
                )
            if self._pause(_GONE_PAUSE):
                return None

    def _pause(self, seconds: float) -> bool:
        """Pause, less when somebody leaves; whether no step waits any more."""
        self._changed.wait(seconds)
        self._changed.clear()
        return self._unwanted()

    # Following it
    def _follow(self, state: JobState) -> None:
        following = Following(self._tools, self._store, state, self)
        self._tools.watch.listen(state.name, self._changed.set)
        try:
            following.run()
        finally:
            self._tools.watch.leave(state.name, self._changed.set)

    def wait(self, seconds: float) -> None:
        """Wait until something changes. Raises ClusterAway when the cluster was not heard of for too long."""
        self._changed.wait(seconds)
        self._changed.clear()
        silent = self._tools.watch.silent
        if silent > AWAY_SECONDS:
            raise ClusterAway(f"The cluster's API server cannot be reached since {silent / 60:.0f} minutes.")

    def is_wanted(self) -> bool:
        """Whether somebody of this process still waits for a step that has not ended."""
        return not self._unwanted()

    def unfinished(self) -> list[Member]:
        """The members that have not ended yet."""
        return [item for item in self._members if item.step not in self._endings]

    def tickets(self, step: tuple[str, int]) -> list[Ticket]:
        """Those who wait for a step."""
        with self._lock:
            return [ticket for ticket in self._tickets if ticket.step == step]

    def is_resumable(self, step: tuple[str, int]) -> bool:
        """Whether another attempt of a step goes on from its checkpoint sets."""
        return any(ticket.job.resumable for ticket in self.tickets(step))

    def tell(self, step: tuple[str, int], event: JobEvent) -> None:
        """Tell those who wait for a step what happened."""
        for ticket in self.tickets(step):
            ticket.reply(event)

    def end(self, step: tuple[str, int], ending: Ending) -> None:
        """Tell those who wait for a step how it ended; they leave."""
        with self._lock:
            self._endings[step] = ending
            leaving = self.tickets(step)
            self._tickets = [ticket for ticket in self._tickets if ticket.step != step]
        for ticket in leaving:
            ticket.reply(ending)

    def _fail(self, error: Exception) -> None:
        """End every step that waits by what keeps the Job from being followed."""
        with self._lock:
            self.over = True
            tickets, self._tickets = self._tickets, []
        for ticket in tickets:
            ticket.reply(error)

    def _end_unless_wanted(self, state: JobState, patience: float) -> None:
        """Delete the Job when no run waits for any of its steps."""
        try:
            if not any(self._wanted_in_store(self.unfinished())):
                self._tools.cluster.delete_job(state, patience)
        except (StoreError, ClusterError) as error:
            _log.warning(
                "The job %s goes on until a later run finds that nobody waits: %s", state.name, error
            )

    def _wanted_in_store(self, members: Iterable[Member]) -> Iterable[bool]:
        return (self._store.waiters(item.key, item.generation) > 0 for item in members)
