"""A Job of the cluster, and the steps of this process that wait for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from translations_assets.common.errors import StoreError
from translations_assets.runners.kubernetes.admission import JobAdmission
from translations_assets.runners.kubernetes.cluster import (
    AWAY_SECONDS,
    ClusterAway,
    ClusterError,
    Conflict,
    NotAdmitted,
)
from translations_assets.runners.kubernetes.connection import Connection, Slot
from translations_assets.runners.kubernetes.following import Following
from translations_assets.runners.kubernetes.job_steps import JobSteps
from translations_assets.runners.kubernetes.jobs import Group, member
from translations_assets.runners.kubernetes.state import Annotation, JobState
from translations_assets.runners.pod.bundle import worker_bundle
from translations_assets.runners.wire import Ending, PodRequest
from translations_assets.running.job import Job
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work, pause
from translations_assets.store.open import reader_of

# Steps of a stage that become ready one soon after the other share a pod, until there is no more for so long
COLLECT_SECONDS = 0.3
_MOST_COLLECTING = 3.0
_CANCEL_SECONDS = 6.0  # a run that is cancelled waits 10 for all of it
_GONE_PAUSE = 0.5
_FIRST_REFUSED, _LAST_REFUSED = 1.0, 30.0  # pauses while the cluster refuses a Job
_LONG_SECONDS = 60.0  # what a step waits for wakes it
_NO_SLOT = "the limit of running Jobs is reached (max-jobs in the deployment file)"
_log = logging.getLogger(__name__)


class ClusterJob(JobSteps):
    """A Job that steps of this process have asked for, or found.

    The first step that waits looks after the Job for all of them: it asks for it, and follows it until the
    step has ended or its run is cancelled. Then the next one does.

    source   the Job, when it is there already; else what the steps that may join have in common
    steps    those that it makes, and all that have waited for it
    ended    called when no step waits any more
    """

    def __init__(
        self,
        connection: Connection,
        store: Store,
        source: JobState | Group,
        ended: Callable[[ClusterJob], None],
    ) -> None:
        super().__init__()
        self._connection, self._store, self._ended = connection, store, ended
        self._group = source if isinstance(source, Group) else None
        self._capacity = connection.descriptions.steps_per_pod(self._group) if self._group else 0
        self.steps = set[tuple[str, int]]()
        self._error: Exception | None = None
        self._over = False
        self._began = self._joined = time.monotonic()
        self._slot: Slot | None = None
        self._body: dict[str, Any] | None = None
        self._following: Following | None = None
        self._state: JobState | None = None
        if isinstance(source, JobState):
            self._set_state(source)

    @property
    def name(self) -> str:
        """The Job's name; empty before it has one."""
        return self._state.name if self._state else ""

    def join(self, submission: Submission) -> None:
        """Wait for the Job that was made or found for a step."""
        with self._lock:
            self._waiting.append(submission)
            self.steps.add(submission.job.step)
            self._joined = time.monotonic()

    def join_member(self, submission: Submission) -> bool:
        """Wait for a step that the Job makes, or will; False when it does not, or has done with it."""
        step = submission.job.step
        with self._lock:
            made = {item.step for item in self.members} or {other.job.step for other in self._waiting}
            can_join = not self._over and step in made and step not in self._endings
            if can_join:
                self.join(submission)
            return can_join

    def join_group(self, submission: Submission, group: Group) -> bool:
        """Wait for one more step, in a Job that has not been asked for yet; False when there is no room."""
        with self._lock:
            can_join = not self.members and not self._over and group == self._group and self._room() > 0
            if can_join:
                self.join(submission)
                self._wake_first()
            return can_join

    def leave(self, submission: Submission) -> None:
        """Wait no longer; when the run was cancelled, with the last step that waits the Job ends.

        Call it when the store does not count this run among those that wait any more.
        """
        with self._lock:
            was_first = self._waiting[0] is submission
            self._waiting.remove(submission)
            if was_first:
                self._wake_first()
            if self._waiting:
                return
            self._over = True
        if self._slot:
            self._connection.limits.release(self._slot)
        if self._state:
            self._connection.watch.unsubscribe(self._state.name, self._wake_first)
        self._ended(self)
        if submission.cancel.is_set() and self._state:
            self._delete_unless_wanted(self._state)

    def _room(self) -> int:
        return self._capacity - len({submission.job.step for submission in self._waiting})

    def ending(self, submission: Submission) -> Work[Ending | None]:
        """Wait for a step's end, and look after the Job as the first; None when the run is cancelled before.

        Raises what keeps the Job from being followed.
        """
        while not submission.cancel.is_set():
            if ending := self._endings.get(submission.job.step):
                return ending
            if self._error:
                raise self._error
            if self._waiting[0] is not submission:
                yield _LONG_SECONDS
                continue
            try:
                yield from self._look_after(submission)
            except Exception as error:
                if not submission.cancel.is_set():  # else the next one tries
                    self._fail(error)
        return None

    def _fail(self, error: Exception) -> None:
        """End every step that waits by what keeps the Job from being followed."""
        with self._lock:
            self._over, self._error = True, error
            for submission in self._waiting:
                submission.wake()

    def _look_after(self, submission: Submission) -> Work[None]:
        cancelled = submission.cancel.is_set
        if self._following:
            yield from self._following.look(cancelled)
        elif self._body:
            yield from self._create(self._body, cancelled)
        else:
            yield from self._describe(cancelled)

    def _describe(self, cancelled: Callable[[], bool]) -> Work[None]:
        """Describe the Job, once no more steps come and there is a slot for it."""
        assert self._group is not None
        while (left := self._collecting()) > 0 and not cancelled():
            yield left
        self.waits_for = _NO_SLOT
        limits, worker_class = self._connection.limits, self._group.worker_class
        self._slot = self._slot or limits.queue(worker_class, self._wake_first)
        while not self._slot.is_free and not cancelled():
            yield _LONG_SECONDS
        if not cancelled():
            self.waits_for = "its Job is being described and created"
            self._body = self._description(self._group, self._close())
            self._slot.name = self._body["metadata"]["name"]

    def _collecting(self) -> float:
        """Seconds for which steps may still join, if no further one does."""
        with self._lock:
            end = min(self._joined + COLLECT_SECONDS, self._began + _MOST_COLLECTING)
            return end - time.monotonic() if self._room() > 0 else 0.0

    def _close(self) -> list[Job]:
        """Let no more steps join; those that have, in an order that does not depend on which was first."""
        with self._lock:
            jobs = {submission.job.step: submission.job for submission in self._waiting}
            ordered = [job for _, job in sorted(jobs.items())]
            self.members = tuple(map(member, ordered))
            return ordered

    def _description(self, group: Group, jobs: list[Job]) -> dict[str, Any]:
        store, descriptions = self._store, self._connection.descriptions
        request = PodRequest(
            tuple(jobs),
            store.url,
            descriptions.gpus(group),
            group.machine,
            self._connection.kubernetes.files,
            self._connection.unsaved_minutes,
            descriptions.grace(group),
        )
        blobs = store.add_bytes(worker_bundle()), store.add_bytes(request.to_bytes())
        arguments = [reader_of(store), store.url, *(blob.digest for blob in blobs)]
        preemptions = max(self._connection.preemptions.count(store.url, job.step) for job in jobs)
        return descriptions.job(group, jobs, store.url, arguments, preemptions)

    def _create(self, body: dict[str, Any], cancelled: Callable[[], bool]) -> Work[None]:
        """Create the Job, or find that another run has; one that has ended without a result makes way."""
        metadata, cluster = body["metadata"], self._connection.cluster
        deadline = time.monotonic() + AWAY_SECONDS
        admission, seconds = JobAdmission(), _FIRST_REFUSED
        while not cancelled():
            try:
                self._set_state((yield from cluster.create_job(body, cancelled)))
                return
            except NotAdmitted as error:
                admission.refused(error)
                self.wait_for(f"the cluster refuses the Job, and the request is repeated: {error.text}")
                has_room = error.by_quota and self._connection.sweep.make_room()
                seconds = _FIRST_REFUSED if has_room else min(2 * seconds, _LAST_REFUSED)
                yield from pause(seconds, cancelled)
                deadline = time.monotonic() + AWAY_SECONDS
                continue
            except Conflict:
                there = yield from cluster.job(metadata["name"], cancelled)
            if there and there.live and there.spec == metadata["annotations"][Annotation.SPEC]:
                self._set_state(there)
                return
            if there and there.live:
                raise ClusterError(
                    f"The cluster has a job {there.name} for this attempt with another description: "
                    "another deployment file is in use. Wait until it ends, or delete it: kubectl delete job "
                    f"--namespace {cluster.namespace} {there.name}"
                )
            if there and not there.deleting:
                self._connection.discard(there)
            if time.monotonic() > deadline:
                raise ClusterAway(
                    f"The job {metadata['name']} has ended, but the cluster does not delete it."
                )
            yield from pause(_GONE_PAUSE, cancelled)

    def _set_state(self, state: JobState) -> None:
        """Follow a Job that is there."""
        self.members = state.members
        self.steps |= {item.step for item in state.members}
        self._state = state
        self._following = Following(self._connection, self._store, state, self)
        self._connection.watch.subscribe(state.name, self._wake_first)

    def _delete_unless_wanted(self, state: JobState) -> None:
        """Delete the Job when no run waits for any of its steps."""
        left = [item for item in self.members if item.step not in self._endings]
        try:
            if not any(self._store.owners.waiters(*item.step) for item in left):
                self._connection.discard(state, _CANCEL_SECONDS)
        except StoreError as error:
            _log.warning("It is not known whether the job %s is waited for: %s", state.name, error)
