"""Waiting for the start of a Job's pod: what it waits for, and when it never will start."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from translations_assets.runners.kubernetes.admission import Admission
from translations_assets.runners.kubernetes.connection import Connection
from translations_assets.runners.kubernetes.kueue import suspended_for
from translations_assets.runners.kubernetes.state import (
    JobState,
    PodState,
    PodVerdict,
    cannot_start,
    never_started,
)

PULL_SECONDS = 20.0  # in which the kubelet tries a second time to pull an image
PASSING_SECONDS = 300.0  # in which it tries some times more, where its trouble may pass


class Starting:
    """A Job whose pod has not started yet.

    waits_for  is told what the pod waits for, as often as it is looked at
    """

    def __init__(self, connection: Connection, job: JobState, waits_for: Callable[[str], None]) -> None:
        self._connection, self._job, self._waits_for = connection, job, waits_for
        self._pending_since = time.monotonic()
        self._admission = Admission(job.name)
        self._trouble: PodVerdict | None = None
        self._trouble_since = 0.0

    def look(self, job: JobState, pod: PodState | None) -> PodVerdict | None:
        """Look at the Job and its pod as they are now; the verdict when the pod will never start.

        A Job that is held back may wait for ever: `pending-minutes` begin when it is let go.
        """
        if pod is None and job.suspended:
            self._pending_since = time.monotonic()
        verdict = self._not_admitted(job) if pod is None else self._in_trouble(pod)
        if verdict:
            return verdict
        minutes = self._connection.kubernetes.pending_minutes
        if time.monotonic() - self._pending_since > minutes * 60:
            events = self._connection.cluster.events(pod.name if pod else job.name)
            return never_started(pod, minutes, events)
        return None

    def give_up(self, verdict: PodVerdict) -> PodVerdict:
        """Delete the Job; the verdict, with what to do about it."""
        self._connection.discard(self._job)
        if verdict.cause != "image" or not verdict.failed:
            return verdict
        remedy = self._connection.descriptions.images.remedy(self._job.image)
        return replace(verdict, message=f"{verdict.message}. {remedy}")

    def _not_admitted(self, job: JobState) -> PodVerdict | None:
        """Ask now and then why there is no pod; return the verdict when that does not pass."""
        if not self._admission.is_due():
            return None
        cluster = self._connection.cluster
        events = cluster.events(job.name)
        refusal = self._admission.look(events)
        if job.suspended:
            self._waits_for(suspended_for(job, cluster.workload(job), events))
            return None
        if refusal is None:
            self._waits_for("the cluster has made no pod for it yet, and gives no reason")
            return None
        self._waits_for(f"the cluster refuses the pod, and the request is repeated: {refusal.text}")
        return refusal.for_good

    def _in_trouble(self, pod: PodState) -> PodVerdict | None:
        """Note what keeps a pod from starting; return the verdict when that has lasted."""
        found, now = cannot_start(pod), time.monotonic()
        if found:
            if not self._trouble:
                self._trouble_since = now
            self._trouble = max(self._trouble or found, found, key=lambda verdict: len(verdict.message))
            self._waits_for(f"{found.message}. It is tried again.")
            if now - self._trouble_since > (PULL_SECONDS if self._trouble.failed else PASSING_SECONDS):
                return self._trouble
        elif pod.waiting is None:
            self._trouble = None
            self._waits_for(
                f"no machine takes the pod: {pod.unscheduled}"
                if pod.unscheduled
                else f"the pod starts on {pod.node}, and has not begun to run yet"
                if pod.node
                else "the scheduler has not handled the pod yet"
            )
        return None
