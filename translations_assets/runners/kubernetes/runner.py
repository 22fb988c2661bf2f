"""The Kubernetes runner: steps as Jobs of a cluster, found again by a run that asks for the same step."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from translations_assets.config.deployment import UNSAVED_MINUTES, Kubernetes
from translations_assets.runners.kubernetes.cluster import Trouble
from translations_assets.runners.kubernetes.cluster_job import ClusterJob
from translations_assets.runners.kubernetes.connection import Connection
from translations_assets.runners.kubernetes.jobs import Group, member
from translations_assets.runners.kubernetes.silence import SILENT_SECONDS, Words, heard_of
from translations_assets.runners.wire import Busy
from translations_assets.running.job import Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission, wait_for_owner
from translations_assets.running.tasks import Work

_CONNECT_SECONDS = 0.05
_OWNER_SECONDS = 5.0
_NO_ANSWER = "the cluster's API server does not answer"


def print_line(label: str, line: bytes) -> None:
    """Write a line of a step's log to standard output, where Dagster keeps it with the run."""
    sys.stdout.write(f"[{label}] {line.decode(errors='replace')}\n")  # in one piece: many threads write
    sys.stdout.flush()


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
        return heard_of(self._run, submission, partial(self._waits_for, submission.job.step), self._words)

    def _run(self, submission: Submission) -> Work[Outcome]:
        job, store, cancel = submission.job, submission.store, submission.cancel
        with ExitStack() as wanting:
            wanting.enter_context(store.owners.waiting(*job.step))
            connection = yield from self._connect(store, cancel)
            while connection and not cancel.is_set():
                if manifest := store.generation(*job.step):
                    return Outcome("done", manifest)
                cluster_job = self._board(connection, submission)
                try:
                    ending = yield from cluster_job.ending(submission)
                finally:
                    if cancel.is_set():
                        wanting.close()
                    cluster_job.leave(submission)
                if isinstance(ending, Busy):  # the owner is in no known Job
                    if outcome := (yield from wait_for_owner(submission, _OWNER_SECONDS)):
                        return outcome
                elif ending and (ending.kind != "temporary" or member(job) in cluster_job.members):
                    return ending
                # else an earlier run's attempt has ended, and this one begins
        return Outcome("cancelled", message="the run was cancelled")

    def _waits_for(self, step: tuple[str, int]) -> str:
        """Describe what a step waits for; empty where nothing is the matter."""
        opened = self._connection
        if opened is None or not opened.done():
            return f"{_NO_ANSWER}: {self._trouble.text or 'not yet'}"
        silent = 0.0 if opened.exception() else opened.result().watch.silent
        if silent > SILENT_SECONDS:
            return f"{_NO_ANSWER} since {silent:.0f} s: {self._trouble.text or 'it accepts connections'}"
        cluster_job = self._jobs.get(step)
        return cluster_job.waits_for if cluster_job else ""

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

    def _board(self, connection: Connection, submission: Submission) -> ClusterJob:
        """Have a step wait for a Job: one that makes it, one with others that are ready now, or its own."""
        job, store = submission.job, submission.store
        with self._lock:
            known = self._jobs.get(job.step)
            if known and known.join_member(submission):
                return known
            names = {known.name for known in self._jobs.values()}
            for state in connection.watch.jobs_of(store.url, job.step):
                if state.live and state.name not in names:
                    return self._begin(ClusterJob(connection, store, state, self._forget), submission)
            group = connection.descriptions.group(job, connection.preemptions.count(store.url, job.step))
            known = self._joinable.get(group)
            if known and known.join_group(submission, group):
                self._jobs[job.step] = known
                return known
            self._joinable[group] = made = ClusterJob(connection, store, group, self._forget)
            return self._begin(made, submission)

    def _begin(self, cluster_job: ClusterJob, submission: Submission) -> ClusterJob:
        """Have a first step wait for a Job, so that others find it."""
        cluster_job.join(submission)
        self._jobs.update(dict.fromkeys(cluster_job.steps, cluster_job))
        return cluster_job

    def _forget(self, cluster_job: ClusterJob) -> None:
        with self._lock:
            for step in cluster_job.steps:
                if self._jobs.get(step) is cluster_job:
                    del self._jobs[step]
            for group in [group for group, known in self._joinable.items() if known is cluster_job]:
                del self._joinable[group]
