"""The Kubernetes runner: steps as Jobs of a cluster, found again by a run that asks for the same step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from translations_assets.config.deployment import UNSAVED_MINUTES, Kubernetes
from translations_assets.runners.batch.runner import BatchRunner, print_line
from translations_assets.runners.batch.silence import SILENT_SECONDS
from translations_assets.runners.kubernetes.cluster import Trouble
from translations_assets.runners.kubernetes.cluster_job import ClusterJob
from translations_assets.runners.kubernetes.connection import Connection
from translations_assets.runners.kubernetes.jobs import Group
from translations_assets.runners.kubernetes.state import JobState
from translations_assets.running.job import Job
from translations_assets.running.protocols import Store

_NO_ANSWER = "the cluster's API server does not answer"


class KubernetesRunner(BatchRunner[Connection, ClusterJob]):
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
        super().__init__()
        self._trouble = Trouble()
        self._make_connection = partial(
            Connection, kubernetes, root, kubeconfig, sink, self._closed, unsaved_minutes, self._trouble
        )

    def _open(self, store: Store) -> Connection:
        return self._make_connection(store)

    def _silence(self, connection: Connection | None) -> str:
        if connection is None:
            return f"{_NO_ANSWER}: {self._trouble.text or 'not yet'}"
        if (silent := connection.watch.silent) > SILENT_SECONDS:
            return f"{_NO_ANSWER} since {silent:.0f} s: {self._trouble.text or 'it accepts connections'}"
        return ""

    def _live(self, connection: Connection, store: Store, step: tuple[str, int]) -> Iterator[JobState]:
        return (state for state in connection.watch.jobs_of(store.url, step) if state.live)

    def _group(self, connection: Connection, store: Store, job: Job) -> Group:
        return connection.descriptions.group(job, connection.preemptions.count(store.url, job.step))

    def _make(self, connection: Connection, store: Store, source: JobState | Group) -> ClusterJob:
        return ClusterJob(connection, store, source, self._forget)
