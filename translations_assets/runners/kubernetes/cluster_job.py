"""A Job of the cluster, and the steps of this process that wait for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from translations_assets.runners.batch.waited_job import WaitedJob
from translations_assets.runners.kubernetes.admission import JobAdmission
from translations_assets.runners.kubernetes.cluster import (
    AWAY_SECONDS,
    ClusterAway,
    ClusterError,
    Conflict,
    NotAdmitted,
)
from translations_assets.runners.kubernetes.connection import Connection
from translations_assets.runners.kubernetes.following import Following
from translations_assets.runners.kubernetes.jobs import Group
from translations_assets.runners.kubernetes.state import Annotation, JobState
from translations_assets.runners.pod.bundle import worker_bundle
from translations_assets.runners.wire import PodRequest
from translations_assets.running.job import Job
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work, pause
from translations_assets.store.open import reader_of

_CANCEL_SECONDS = 6.0  # a run that is cancelled waits 10 for all of it
_GONE_PAUSE = 0.5
_FIRST_REFUSED, _LAST_REFUSED = 1.0, 30.0  # pauses while the cluster refuses a Job


class ClusterJob(WaitedJob):
    """A Job that steps of this process have asked for, or found.

    source   the Job, when it is there already; else what the steps that may join have in common
    """

    def __init__(
        self,
        connection: Connection,
        store: Store,
        source: JobState | Group,
        ended: Callable[[ClusterJob], None],
    ) -> None:
        group = source if isinstance(source, Group) else None
        capacity = connection.descriptions.steps_per_pod(group) if group else 0
        super().__init__(store, connection.limits, group, capacity, ended)
        self._connection = connection
        self._body: dict[str, Any] | None = None
        self._following: Following | None = None
        self._state: JobState | None = None
        if isinstance(source, JobState):
            self._set_state(source)

    @property
    def name(self) -> str:
        """The Job's name; empty before it has one."""
        return self._state.name if self._state else ""

    def _look_after(self, submission: Submission) -> Work[None]:
        cancelled = submission.cancel.is_set
        if self._following:
            yield from self._following.look(cancelled)
        elif self._body:
            yield from self._create(self._body, cancelled)
        else:
            yield from self._describe(cancelled)

    def _describe(self, cancelled: Callable[[], bool]) -> Work[None]:
        """Describe the Job, once there is a slot for it."""
        jobs = yield from self._wait_for_slot(cancelled)
        if jobs:
            self.waits_for = "its Job is being described and created"
            assert isinstance(self._group, Group)
            assert self._slot
            self._body = self._description(self._group, jobs)
            self._slot.name = self._body["metadata"]["name"]

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
        self._follow(state.members)
        self._state = state
        self._following = Following(self._connection, self._store, state, self)
        self._connection.watch.subscribe(state.name, self._wake_first)

    def _let_go(self) -> None:
        if self._state:
            self._connection.watch.unsubscribe(self._state.name, self._wake_first)

    def _end(self) -> None:
        if self._state:
            self._connection.discard(self._state, _CANCEL_SECONDS)
