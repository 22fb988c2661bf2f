"""A namespace of a cluster and a bucket: where the tests of the Kubernetes runner run steps."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.end_to_end.tiny import Place, write_place
from tests.kube.census import Census
from tests.kube.cluster import Cluster
from tests.kube.made import wait_for
from tests.runners.scripts import Cancel, attempt
from tests.store.gcs_server import BUCKET, GcsServer
from translations_assets.config.deployment import parse_deployment
from translations_assets.runners.kubernetes.runner import KubernetesRunner
from translations_assets.running.events import JobEvent
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.gcs.objects import GcsObjects

ROOT = Path(__file__).parents[2]


def _on(pool: str) -> dict[str, Any]:
    tolerations = [{"key": pool, "operator": "Exists"}]
    return {"pod_spec_config": {"node_selector": {"pool": pool}, "tolerations": tolerations}}


def _class(memory: str = "1Gi", **values: Any) -> dict[str, Any]:
    resources = {"requests": {"cpu": "100m"}, "limits": {"memory": memory}}
    return {
        "pod": {"container_config": {"resources": resources}},
        "standard": _on("cpu"),
        "spot": _on("spot"),
        **values,
    }


@dataclass
class Run:
    """One attempt that somebody waits for."""

    ending: Future[Outcome]
    cancel: Cancel = field(default_factory=Cancel)
    events: list[JobEvent] = field(default_factory=list)

    def outcome(self, seconds: float = 90.0) -> Outcome:
        """Outcome of the run."""
        return self.ending.result(seconds)


class Orchestrator:
    """A process's runner, and the lines of the logs that it was sent."""

    def __init__(self, site: Site, changes: dict[str, Any]) -> None:
        self.lines: list[str] = []
        deployment = parse_deployment(json.dumps(site.deployment(**changes)), "deployment.yml")
        assert deployment.kubernetes is not None
        self._runner = KubernetesRunner(
            deployment.kubernetes, ROOT, site.cluster.kubeconfig, lambda _, line: self._take(line)
        )
        self._site = site

    def _take(self, line: bytes) -> None:
        self.lines.append(line.decode(errors="replace"))

    def start(self, job: Job, store: Store | None = None) -> Run:
        """Have an attempt made in the background; by default in the site's own store."""
        run = Run(Future())
        used = store or self._site.store

        def work() -> None:
            try:
                run.ending.set_result(attempt(self._runner, job, used, run.cancel, run.events.append))
            except BaseException as error:
                run.ending.set_exception(error)

        threading.Thread(target=work, name=job.label, daemon=True).start()
        return run

    def run(self, job: Job, store: Store | None = None) -> Outcome:
        """Make an attempt."""
        return self.start(job, store).outcome()

    def close(self) -> None:
        """Watch the cluster no more."""
        self._runner.close()


@dataclass
class Site:
    """A namespace, and a bucket with a store."""

    cluster: Cluster
    namespace: str
    bucket: GcsServer
    orchestrators: list[Orchestrator] = field(default_factory=list)

    @property
    def url(self) -> str:
        """The store's."""
        return f"gs://{BUCKET}/{self.namespace}"

    @property
    def store(self) -> BucketStore:
        """The store."""
        return BucketStore(GcsObjects.at(self.url))

    def deployment(self, **changes: Any) -> dict[str, Any]:
        """The contents of a deployment file; `changes` are of its section kubernetes."""
        return {
            "store": self.url,
            "space": "test",
            "runner": "kubernetes",
            "kubernetes": {
                "context": self.cluster.context,
                "namespace": self.namespace,
                "image": "registry/worker",
                "tag": "test",
                "files": ["/"],  # pods are processes of this machine
                "worker-classes": {
                    "cpu": _class(),
                    "large-cpu": _class("8Gi"),
                    "gpu": _class("4Gi", machine="spot"),
                    "large-gpu": _class("8Gi", machine="spot"),
                },
                **changes,
            },
        }

    def write_deployment(self, path: Path, **changes: Any) -> dict[str, str]:
        """Write a deployment file; the environment of a process that works with it."""
        path.write_text(json.dumps(self.deployment(**changes)), encoding="utf-8")
        return {
            "TRANSLATIONS_DEPLOYMENT": str(path),
            "KUBECONFIG": str(self.cluster.kubeconfig),
            "STORAGE_EMULATOR_HOST": self.bucket.url,
        }

    def orchestrator(self, **changes: Any) -> Orchestrator:
        """A runner with everything as `deployment` says."""
        made = Orchestrator(self, changes)
        self.orchestrators.append(made)
        return made

    def make_place(self, root: Path, **changes: Any) -> ClusterPlace:
        """A place with the tiny data, whose steps run here."""
        write_place(root)
        return ClusterPlace(root, self, self.write_deployment(root / "deployment.yml", **changes))

    def pod(self) -> str:
        """The one pod that runs."""
        return wait_for(lambda: self.cluster.live_pods(self.namespace))[0]

    def job_names(self) -> list[str]:
        """The names of the jobs that are there."""
        return [job["metadata"]["name"] for job in self.cluster.jobs(self.namespace)]

    def unfinished_jobs(self) -> list[str]:
        """The names of the jobs that go on."""
        jobs = self.cluster.jobs(self.namespace)
        return [job["metadata"]["name"] for job in jobs if not job["status"].get("conditions")]

    def log(self, job: Job) -> str:
        """Log of an attempt, as far as the store has it."""
        return b"".join(self.store.read_log(job.key, job.generation, job.attempt)).decode()

    @contextmanager
    def census(self) -> Iterator[Census]:
        """Counts jobs."""
        with Census(self.cluster, self.namespace) as census:
            yield census


@dataclass(frozen=True)
class ClusterPlace(Place):
    """A place whose steps run on a cluster, with their results in a bucket."""

    site: Site
    settings: Mapping[str, str]

    @property
    def store(self) -> BucketStore:
        return self.site.store

    @property
    def environment(self) -> dict[str, str]:
        return {**super().environment, **self.settings}
