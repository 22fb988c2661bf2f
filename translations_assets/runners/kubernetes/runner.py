"""The Kubernetes runner: steps as Jobs of a cluster, found again by a run that asks for the same step."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path

from translations_assets.config.deployment import UNSAVED_MINUTES, Kubernetes
from translations_assets.runners.kubernetes.cluster import Cluster
from translations_assets.runners.kubernetes.cluster_job import ClusterJob, Ticket
from translations_assets.runners.kubernetes.connection import Limits, Sweep, Tools, Watch
from translations_assets.runners.kubernetes.jobs import Descriptions
from translations_assets.runners.waiting import wait_for_owner
from translations_assets.runners.wire import Busy, Ending
from translations_assets.running.job import Job, JobEvent, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.tasks import Wake, Work

_CONNECT_SECONDS = 0.05
_LONG_SECONDS = 60.0  # replies wake who waits for them
_OWNER_SECONDS = 5.0


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
        self._kubernetes, self._root, self._kubeconfig, self._sink = kubernetes, root, kubeconfig, sink
        self._unsaved_minutes = unsaved_minutes
        self._lock = threading.Lock()
        self._jobs: list[ClusterJob] = []
        self._closed = threading.Event()
        self._connection: Future[Tools] | None = None

    def run(
        self,
        job: Job,
        store: Store,
        cancel: threading.Event,
        on_event: Callable[[JobEvent], None],
        wake: Wake,
    ) -> Work[Outcome]:
        """One attempt, until its end; see `running.protocols.Runner`."""
        with ExitStack() as wanting:
            wanting.enter_context(store.waiting(job.key, job.generation))
            tools = yield from self._connect(store, cancel)
            while tools and not cancel.is_set():
                if manifest := store.generation(job.key, job.generation):
                    return Outcome("done", manifest)
                cluster_job, ticket = self._board(tools, store, job, wake)
                ending = yield from _await_ending(ticket, cancel, on_event)
                if ending is None:
                    wanting.close()
                    cluster_job.leave(ticket)
                elif isinstance(ending, Busy):  # the owner is in no Job that we know of
                    if outcome := (yield from wait_for_owner(job, store, cancel, _OWNER_SECONDS)):
                        return outcome
                elif not (ending.kind == "temporary" and cluster_job.was_found(job)):
                    return ending
                # else an earlier run's attempt has ended, and ours begins
        return Outcome("cancelled", message="the run was cancelled")

    def close(self) -> None:
        """Watch the cluster no more; its Jobs go on. The threads end at their next try, within a minute."""
        self._closed.set()

    def _connect(self, store: Store, cancel: threading.Event) -> Work[Tools | None]:
        """The cluster; connecting takes as long as the API server is away. None when cancelled meanwhile."""
        with self._lock:
            if self._connection is None or (self._connection.done() and self._connection.exception()):
                self._connection = Future()
                words = (self._connection, store)
                threading.Thread(target=self._open, args=words, name="connect", daemon=True).start()
            connection = self._connection
        while not connection.done():
            if cancel.is_set():
                return None
            yield _CONNECT_SECONDS
        return connection.result()

    def _open(self, connection: Future[Tools], store: Store) -> None:
        try:
            connection.set_result(self._tools(store))
        except Exception as error:
            connection.set_exception(error)

    def _tools(self, store: Store) -> Tools:
        kubernetes = self._kubernetes
        descriptions = Descriptions(kubernetes, self._root)
        descriptions.check()
        kubeconfig = str(self._kubeconfig) if self._kubeconfig else None
        cluster = Cluster.connect(kubernetes.namespace, kubernetes.context, kubeconfig, self._closed)
        watch = Watch(cluster)
        of_class = {
            name: worker_class.max_jobs
            for name, worker_class in kubernetes.worker_classes.items()
            if worker_class.max_jobs
        }
        limits = Limits(kubernetes.max_jobs, of_class, watch.jobs)
        watch.start()
        watch.listen("", limits.changed)
        Sweep(cluster, watch, store, kubernetes.orphan_minutes).start()
        return Tools(kubernetes, cluster, watch, limits, descriptions, self._sink, self._unsaved_minutes)

    def _board(self, tools: Tools, store: Store, job: Job, wake: Wake) -> tuple[ClusterJob, Ticket]:
        """A place for a step: in a Job that makes it already, with others that are ready now, or alone."""
        with self._lock:
            for known in self._jobs:
                if ticket := known.join_member(job, wake):
                    return known, ticket
            names = {known.name for known in self._jobs}
            for state in tools.jobs_of(store.url, (job.key, job.generation)):
                if state.live and state.name not in names:
                    return self._begin(ClusterJob(tools, store, found=state), job, wake)
            group = tools.descriptions.group(job, tools.preemptions(store.url, (job.key, job.generation)))
            for known in self._jobs:
                if ticket := known.join_group(job, group, wake):
                    return known, ticket
            return self._begin(ClusterJob(tools, store, group=group), job, wake)

    def _begin(self, cluster_job: ClusterJob, job: Job, wake: Wake) -> tuple[ClusterJob, Ticket]:
        """Have a Job followed, on behalf of a first step."""
        ticket = cluster_job.join(job, wake)
        self._jobs.append(cluster_job)
        cluster_job.start(self._forget)
        return cluster_job, ticket

    def _forget(self, cluster_job: ClusterJob) -> None:
        with self._lock:
            self._jobs.remove(cluster_job)


def _await_ending(
    ticket: Ticket, cancel: threading.Event, on_event: Callable[[JobEvent], None]
) -> Work[Ending | None]:
    """Hand on what happens to a step until it has ended; None when the run is cancelled before.

    Raises what keeps its Job from being followed.
    """
    while not cancel.is_set():
        try:
            reply = ticket.replies.get_nowait()
        except queue.Empty:
            yield _LONG_SECONDS
            continue
        if isinstance(reply, Exception):
            raise reply
        if not isinstance(reply, JobEvent):
            return reply
        on_event(reply)
    return None
