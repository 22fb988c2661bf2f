"""Small jobs for the tests of the cluster, made by the official client, and what is seen of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from kubernetes import client, config

from tests.kube.cluster import Cluster
from tests.kube.objects import Object
from tests.patience import PATIENCE

Found = TypeVar("Found")

HOLD = "import time; print('begun', flush=True); time.sleep(600)"
TOUGH = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
child = subprocess.Popen(sleep, start_new_session=True)
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""
POLITE = """
import signal, sys, time
def end(*_):
    print("told to end", flush=True)
    sys.exit(75)
signal.signal(signal.SIGTERM, end)
print("begun", flush=True)
time.sleep(600)
"""


class Api:
    """The official client for one namespace of a cluster."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        api = config.new_client_from_config(str(cluster.kubeconfig), context=cluster.context)
        self.core, self.batch = client.CoreV1Api(api), client.BatchV1Api(api)
        self.cluster, self.namespace = cluster, namespace

    def run(
        self, name: str, script: str, container: Object | None = None, pod: Object | None = None, **spec: Any
    ) -> None:
        """Create a job that runs a Python script, once."""
        main = {
            "name": "main",
            "image": "image",
            "command": ["python", "-I", "-c", script],
            **(container or {}),
        }
        template = {"restartPolicy": "Never", "containers": [main], "terminationGracePeriodSeconds": 5}
        body = {
            "metadata": {"name": name},
            "spec": {"backoffLimit": 0, "template": {"spec": {**template, **(pod or {})}}, **spec},
        }
        self.batch.create_namespaced_job(self.namespace, body)

    def job(self, name: str) -> Any:
        """A job."""
        return self.batch.read_namespaced_job(name, self.namespace)

    def ended(self, name: str) -> Any:
        """The condition by which a job ended, waited for."""
        return wait_for(lambda: _ending(self.job(name)))

    def pods(self, job: str) -> list[Any]:
        """A job's pods."""
        found = self.core.list_namespaced_pod(self.namespace, label_selector=f"job-name={job}")
        return list(found.items)

    def pod(self, job: str, phase: str = "") -> Any:
        """A job's pod, waited for until it is in a phase."""
        return wait_for(
            lambda: next((pod for pod in self.pods(job) if phase in ("", pod.status.phase)), None)
        )

    def running(self, job: str) -> str:
        """The pod of a job, as namespace/name, when it has written its first line."""
        name = self.pod(job, "Running").metadata.name
        wait_for(lambda: self.log(name))
        return f"{self.namespace}/{name}"

    def waiting(self, job: str) -> Any:
        """Wait for the reason why a job's container waits."""
        return wait_for(lambda: _waiting(self.pods(job)))

    def terminated(self, job: str) -> Any:
        """Wait for the end of a job's container; its state."""
        return self.pod(job, "Failed").status.container_statuses[0].state.terminated

    def log(self, pod: str, **options: Any) -> bytes:
        """A pod's log."""
        return bytes(self.stream(pod, **options).data)

    def stream(self, pod: str, **options: Any) -> Any:
        """A pod's log as a response that can be read bit by bit."""
        query = [(name, str(value)) for name, value in options.items()]
        path = f"/api/v1/namespaces/{self.namespace}/pods/{pod}/log"
        url = f"{self.cluster.access.url}{path}"
        rest = self.core.api_client
        headers = dict(rest.default_headers)
        rest.update_params_for_auth(headers, query, ["BearerToken"])
        return rest.rest_client.GET(url, headers=headers, query_params=query, _preload_content=False)


def wait_for(look: Callable[[], Found], seconds: float = PATIENCE) -> Found:
    """Wait for the first value that is something."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, "it does not become true"
        time.sleep(0.05)
    return found


def _ending(job: Any) -> Any:
    return next((item for item in job.status.conditions or () if item.type in ("Complete", "Failed")), None)


def _waiting(pods: list[Any]) -> Any:
    statuses = [pod.status.container_statuses[0] for pod in pods if pod.status.container_statuses]
    return next((status.state.waiting for status in statuses if status.state.waiting), None)
