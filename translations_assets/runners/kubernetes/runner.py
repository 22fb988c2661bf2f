"""The Kubernetes runner: steps as Jobs of a cluster, found again by a run that asks for the same step."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from translations_assets.common.errors import StoreError
from translations_assets.config.deployment import UNSAVED_MINUTES, Kubernetes
from translations_assets.runners.kubernetes.admission import JobAdmission
from translations_assets.runners.kubernetes.cluster import (
    AWAY_SECONDS,
    ClusterAway,
    ClusterError,
    Conflict,
    NotAdmitted,
    Trouble,
)
from translations_assets.runners.kubernetes.connection import Connection, Slot
from translations_assets.runners.kubernetes.following import Following
from translations_assets.runners.kubernetes.jobs import Group, member
from translations_assets.runners.kubernetes.silence import SILENT_SECONDS, Words, heard_of
from translations_assets.runners.kubernetes.state import Annotation, JobState
from translations_assets.runners.kubernetes.tickets import Ticket, Tickets
from translations_assets.runners.pod.bundle import worker_bundle
from translations_assets.runners.wire import Busy, PodRequest
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission, wait_for_owner
from translations_assets.running.tasks import Work
from translations_assets.store.open import reader_of

# Steps of a stage that become ready one soon after the other share a pod, until there is no more for so long
COLLECT_SECONDS = 0.3
_MOST_COLLECTING = 3.0
_CANCEL_SECONDS = 6.0  # a run that is cancelled waits 10 for all of it
_CONNECT_SECONDS = 0.05
_GONE_PAUSE = 0.5
_FIRST_REFUSED, _LAST_REFUSED = 1.0, 30.0  # pauses while the cluster refuses a Job
_OWNER_SECONDS = 5.0
_NO_SLOT = "the limit of running Jobs is reached (max-jobs in the deployment file)"
_NO_ANSWER = "the cluster's API server does not answer"
_log = logging.getLogger(__name__)


class ClusterJob(Tickets):
    """A Job that this process asks for or has found, with a thread that follows it for the steps that wait.

    source  the Job, when it is there already; else what the steps that may join have in common
    """

    def __init__(self, connection: Connection, store: Store, source: JobState | Group) -> None:
        found, group = (source, None) if isinstance(source, JobState) else (None, source)
        super().__init__(found.members if found else ())
        self._connection, self._store, self._group = connection, store, group
        self._capacity = connection.descriptions.steps_per_pod(group) if group else 0
        self._state = found
        self._is_open = found is None
        self._slot: Slot | None = None
        self._joined = threading.Event()  # set when a step joins

    def start(self, ended: Callable[[ClusterJob], None]) -> None:
        """Begin; `ended` is called when nothing is followed any more."""
        threading.Thread(target=self._run, args=(ended,), name="cluster-job", daemon=True).start()

    @property
    def name(self) -> str:
        """The Job's name; empty before it has one."""
        return self._state.name if self._state else ""

    def join_group(self, submission: Submission, group: Group) -> Ticket | None:
        """A ticket for one more step, in a Job that has not been asked for yet; None when there is none."""
        with self._lock:
            if not self._is_open or self.over or group != self._group or self._room() <= 0:
                return None
            ticket = self.join(submission)
            self._joined.set()
            return ticket

    def leave(self, ticket: Ticket) -> None:
        """Wait no longer, as the run was cancelled; with the last step that waits the Job ends.

        Call it when the store does not count this run among those that wait any more.
        """
        with self._lock:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
            self.is_wanted()
            state = self._state
        self.changed.set()
        if state:
            self._delete_unless_wanted(state, _CANCEL_SECONDS)

    def _room(self) -> int:
        return self._capacity - len({ticket.job.step for ticket in self._tickets})

    def _run(self, ended: Callable[[ClusterJob], None]) -> None:
        try:
            if self._state is None:
                self._state = self._launch()
            if self._state and self.is_wanted():
                Following(self._connection, self._store, self._state, self).run()
            elif self._state:
                self._delete_unless_wanted(self._state, AWAY_SECONDS)
        except Exception as error:
            self.fail(error)
        finally:
            if self._slot:
                self._connection.limits.release(self._slot)
            ended(self)

    def _launch(self) -> JobState | None:
        """Ask for the Job, once there is a slot for it; None when no step waits for it any more."""
        assert self._group is not None
        deadline = time.monotonic() + _MOST_COLLECTING
        while self._room() > 0 and self._joined.wait(COLLECT_SECONDS) and time.monotonic() < deadline:
            self._joined.clear()
        self.wait_for(_NO_SLOT)
        self._slot = self._connection.limits.acquire(self._group.worker_class, lambda: not self.is_wanted())
        jobs = self._close()
        if not jobs or not self._slot:
            return None
        self.wait_for("its Job is being described and created")
        body = self._describe(self._group, jobs)
        self._slot.name = body["metadata"]["name"]
        return self._create(body)

    def _close(self) -> list[Job]:
        """Let no more steps join; those that have, in an order that does not depend on which was first."""
        with self._lock:
            self._is_open = False
            jobs = {ticket.job.step: ticket.job for ticket in self._tickets}
            ordered = [job for _, job in sorted(jobs.items())]
            self.members = tuple(map(member, ordered))
            return ordered

    def _describe(self, group: Group, jobs: list[Job]) -> dict[str, Any]:
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

    def _create(self, body: dict[str, Any]) -> JobState | None:
        """Create the Job, or find that another run has; one that has ended without a result makes way.

        None when no step waits for it any more.
        """
        metadata, cluster = body["metadata"], self._connection.cluster
        deadline = time.monotonic() + AWAY_SECONDS
        admission, pause = JobAdmission(), _FIRST_REFUSED
        while True:
            try:
                return cluster.create_job(body, self.pause)
            except NotAdmitted as error:
                admission.refused(error)
                self.wait_for(f"the cluster refuses the Job, and the request is repeated: {error.text}")
                has_room = error.by_quota and self._connection.sweep.make_room()
                pause = _FIRST_REFUSED if has_room else min(2 * pause, _LAST_REFUSED)
                if self.pause(pause):
                    return None
                deadline = time.monotonic() + AWAY_SECONDS
                continue
            except Conflict:
                there = cluster.job(metadata["name"])
            if there and there.live and there.spec == metadata["annotations"][Annotation.SPEC]:
                return there
            if there and there.live:
                raise ClusterError(
                    f"The cluster has a job {there.name} for this attempt with another description: "
                    "another deployment file is in use. Wait until it ends, or delete it: kubectl delete job "
                    f"--namespace {cluster.namespace} {there.name}"
                )
            if there and not there.deleting:
                cluster.delete_job(there)
            if time.monotonic() > deadline:
                raise ClusterAway(
                    f"The job {metadata['name']} has ended, but the cluster does not delete it."
                )
            if self.pause(_GONE_PAUSE):
                return None

    def _delete_unless_wanted(self, state: JobState, patience: float) -> None:
        """Delete the Job when no run waits for any of its steps."""
        try:
            waiters = (self._store.owners.waiters(*item.step) for item in self.unfinished())
            if not any(count > 0 for count in waiters):
                self._connection.cluster.delete_job(state, patience)
        except (StoreError, ClusterError) as error:
            _log.warning(
                "The job %s could not be deleted and goes on until a later run deletes it: %s",
                state.name,
                error,
            )


def print_line(label: str, line: bytes) -> None:
    """Write a line of a step's log to standard output, where Dagster keeps it with the run."""
    sys.stdout.write(f"[{label}] {line.decode(errors='replace')}\n")  # in one piece: many threads write
    sys.stdout.flush()


@dataclass
class _What:
    """The Job that a step waits for; None before and after."""

    of: ClusterJob | None = None


class KubernetesRunner:
    """A `Runner` on a cluster. Nothing is imported or connected before the first step runs.

    root        folder of the code, whose lock names the worker's image
    kubeconfig  file to connect by; by default as kubectl finds it, or the pod's own cluster
    sink        takes the lines of the scripts' logs: label of the step, line
    unsaved_minutes  as in `Deployment`
    """

    def __init__(
        self,
        kubernetes: Kubernetes,
        root: Path,
        kubeconfig: Path | None = None,
        sink: Callable[[str, bytes], None] = print_line,
        unsaved_minutes: float = UNSAVED_MINUTES,
    ) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[tuple[str, int], ClusterJob] = {}  # by each step that waits, or may, for one
        self._joinable: dict[Group, ClusterJob] = {}  # those that steps may join
        self._closed, self._trouble, self._words = threading.Event(), Trouble(), Words()
        self._make_connection = partial(
            Connection, kubernetes, root, kubeconfig, sink, self._closed, unsaved_minutes, self._trouble
        )
        self._connection: Future[Connection] | None = None

    def run(self, submission: Submission) -> Work[Outcome]:
        """One attempt, until its end; see `running.runner.Runner`."""
        what = _What()
        begin = partial(self._run, what)
        return heard_of(begin, submission, partial(self._waits_for, what), self._words)

    def _run(self, what: _What, submission: Submission) -> Work[Outcome]:
        job, store, cancel = submission.job, submission.store, submission.cancel
        with ExitStack() as wanting:
            wanting.enter_context(store.owners.waiting(*job.step))
            connection = yield from self._connect(store, cancel)
            while connection and not cancel.is_set():
                if manifest := store.generation(*job.step):
                    return Outcome("done", manifest)
                cluster_job, ticket = self._board(connection, submission)
                what.of = cluster_job
                ending = yield from ticket.ending()
                what.of = None
                if ending is None:
                    wanting.close()
                    cluster_job.leave(ticket)
                elif isinstance(ending, Busy):  # the owner is in no known Job
                    if outcome := (yield from wait_for_owner(submission, _OWNER_SECONDS)):
                        return outcome
                elif ending.kind != "temporary" or member(job) in cluster_job.members:
                    return ending
                # else an earlier run's attempt has ended, and this one begins
        return Outcome("cancelled", message="the run was cancelled")

    def _waits_for(self, what: _What) -> str:
        """Describe what a step waits for; empty where nothing is the matter."""
        opened = self._connection
        if opened is None or not opened.done():
            return f"{_NO_ANSWER}: {self._trouble.text or 'not yet'}"
        silent = 0.0 if opened.exception() else opened.result().watch.silent
        if silent > SILENT_SECONDS:
            return f"{_NO_ANSWER} since {silent:.0f} s: {self._trouble.text or 'it accepts connections'}"
        return what.of.waits_for if what.of else ""

    def close(self) -> None:
        """Stop watching the cluster; its Jobs continue. Threads end at their next try, within a minute."""
        self._closed.set()

    def _connect(self, store: Store, cancel: threading.Event) -> Work[Connection | None]:
        """The cluster; connecting takes as long as the API server is away. None when cancelled meanwhile."""
        with self._lock:
            if self._connection is None or (self._connection.done() and self._connection.exception()):
                self._connection = Future()
                arguments = (self._connection, store)
                threading.Thread(target=self._open, args=arguments, name="connect", daemon=True).start()
            connection = self._connection
        while not connection.done():
            if cancel.is_set():
                return None
            yield _CONNECT_SECONDS
        return connection.result()

    def _open(self, opened: Future[Connection], store: Store) -> None:
        try:
            opened.set_result(self._make_connection(store))
        except Exception as error:
            opened.set_exception(error)

    def _board(self, connection: Connection, submission: Submission) -> tuple[ClusterJob, Ticket]:
        """A ticket for a step: in a Job that makes it already, with others that are ready now, or alone."""
        job, store = submission.job, submission.store
        with self._lock:
            known = self._jobs.get(job.step)
            if known and (ticket := known.join_member(submission)):
                return known, ticket
            if there := [state for state in connection.watch.jobs_of(store.url, job.step) if state.live]:
                names = {known.name for known in self._jobs.values()}
                for state in there:
                    if state.name not in names:
                        return self._begin(ClusterJob(connection, store, state), submission)
            group = connection.descriptions.group(job, connection.preemptions.count(store.url, job.step))
            known = self._joinable.get(group)
            if known and (ticket := known.join_group(submission, group)):
                self._jobs[job.step] = known
                return known, ticket
            self._joinable[group] = cluster_job = ClusterJob(connection, store, group)
            return self._begin(cluster_job, submission)

    def _begin(self, cluster_job: ClusterJob, submission: Submission) -> tuple[ClusterJob, Ticket]:
        """Have a Job followed, on behalf of a first step."""
        ticket = cluster_job.join(submission)
        self._jobs.update(dict.fromkeys(cluster_job.steps, cluster_job))
        cluster_job.start(self._forget)
        return cluster_job, ticket

    def _forget(self, cluster_job: ClusterJob) -> None:
        with self._lock:
            for step in cluster_job.steps:
                if self._jobs.get(step) is cluster_job:
                    del self._jobs[step]
            for group in [group for group, known in self._joinable.items() if known is cluster_job]:
                del self._joinable[group]
