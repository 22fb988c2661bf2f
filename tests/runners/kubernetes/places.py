"""A store, a namespace of the test cluster, and runs that use them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.kube.cluster import Cluster
from tests.kube.objects import Object
from tests.runners.scripts import Cancel, attempt, job
from translations_assets.common.settings import repository_root
from translations_assets.config.deployment import Kubernetes
from translations_assets.runners.kubernetes.runner import KubernetesRunner
from translations_assets.running.events import JobEvent, Waiting
from translations_assets.running.job import Job, Outcome
from translations_assets.store.local import LocalStore

IMAGE = "registry.example/worker"
TALK = """
    import pathlib, sys, time
    root = pathlib.Path({root!r})
    number = 0
    while not (root / "go").exists():
        print("line", number, flush=True)
        number += 1
        time.sleep(0.05)
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text("done")
"""
SPOT: dict[str, Any] = {
    "spot": {
        "pod_spec_config": {
            "nodeSelector": {"pool": "spot"},
            "tolerations": [{"key": "spot", "operator": "Exists", "effect": "NoSchedule"}],
        }
    },
    "standard": {"pod_spec_config": {"nodeSelector": {"pool": "cpu"}}},
}


class Run:
    """One orchestrator: a runner of its own, and a thread for each step that it wants."""

    def __init__(self, place: Place, kubernetes: Kubernetes) -> None:
        self.place, self.kubernetes, self.cancel = place, kubernetes, Cancel()
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.events: list[JobEvent] = []
        self.runner = KubernetesRunner(
            kubernetes, repository_root(), place.cluster.kubeconfig, self._take_line
        )
        self._pool = ThreadPoolExecutor(64)

    def start(self, work: Job, cancel: Cancel | None = None) -> Future[Outcome]:
        """Begin an attempt, which ends with the run, or when it is cancelled by itself."""
        return self._pool.submit(
            attempt, self.runner, work, self.place.store, cancel or self.cancel, self.events.append
        )

    def make(self, work: Job) -> Outcome:
        """Make an attempt."""
        return self.start(work).result(120)

    @property
    def told(self) -> list[str]:
        """Reported reasons for which steps wait."""
        return [event.message for event in self.events if isinstance(event, Waiting)]

    def close(self) -> None:
        """Cancel what this run does, and end."""
        self.cancel.set()
        self._pool.shutdown()
        self.runner.close()

    def _take_line(self, label: str, line: bytes) -> None:
        self.lines[label].append(line.decode())


class Place:
    """Resources that several runs share."""

    def __init__(self, root: Path, cluster: Cluster, namespace: str) -> None:
        self.root, self.cluster, self.namespace = root, cluster, namespace
        self.store = LocalStore(root / "store")
        self.runs: list[Run] = []

    def run(self, worker_class: Mapping[str, Any] | None = None, **kubernetes: Any) -> Run:
        """A new orchestrator, with a deployment of one worker class."""
        values = {
            "image": IMAGE,
            "tag": "1",
            "namespace": self.namespace,
            "worker-classes": {"cpu": worker_class or {}},
            **{name.replace("_", "-"): value for name, value in kubernetes.items()},
        }
        self.runs.append(Run(self, Kubernetes.model_validate(values)))
        return self.runs[-1]

    def talking(self, **changes: Any) -> Job:
        """A step that writes a line every 50 ms until `go` is called."""
        return self.job(TALK.format(root=str(self.root)), **changes)

    def job(self, script: str, number: int = 0, **changes: Any) -> Job:
        """A step of the stage `train_teacher`; steps with other numbers are other steps."""
        values = {"key": f"{number:064x}", "label": f"step-{number}", "stage": "train_teacher", **changes}
        return job(self.store, script, **values)

    def go(self) -> None:
        """Let the talking steps end."""
        (self.root / "go").touch()

    def jobs(self) -> list[Object]:
        """The cluster's Jobs."""
        return self.cluster.jobs(self.namespace)

    def pods(self) -> list[Object]:
        """The cluster's pods."""
        return self.cluster.pods(self.namespace)

    def live(self) -> list[str]:
        """The pods that run."""
        return self.cluster.live_pods(f"{self.namespace}/")

    def close(self) -> None:
        """End all runs, and let their scripts end."""
        self.go()
        for run in self.runs:
            run.close()
