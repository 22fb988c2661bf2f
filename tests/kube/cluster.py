"""A cluster to test against, with hooks for what happens to pods, nodes and the API server."""

from __future__ import annotations

import os
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from typing import Literal, TypeAlias

from tests.kube.api import FakeApi
from tests.kube.gate import Gate
from tests.kube.kubelet import NOT_FOUND
from tests.kube.logs import LogQuery
from tests.kube.nodes import Node
from tests.kube.objects import Object
from tests.kube.real import PROGRAMS, LogServer, RealApi
from tests.kube.rest import Access, Rest
from tests.kube.standin import StandIn
from tests.patience import PATIENCE

Kind: TypeAlias = Literal["fake", "real"]

BINARIES = "KUBE_BINARIES"
NODES = (
    Node("cpu-1", {"pool": "cpu"}),
    Node("cpu-2", {"pool": "cpu"}),
    Node("gpu-1", {"pool": "gpu"}, {"nvidia.com/gpu": "present"}, gpus=8),
    Node("spot-1", {"pool": "spot"}, {"spot": "true"}),
    Node("spot-2", {"pool": "spot"}, {"spot": "true"}),
)


def binaries() -> Path | None:
    """Folder of the programs of a real API server, None when there is none."""
    folder = os.environ.get(BINARIES, "")
    return Path(folder) if folder and all((Path(folder) / name).exists() for name in PROGRAMS) else None


def best_kind() -> Kind:
    """The real API server where its programs are, else the fake one."""
    return "real" if binaries() else "fake"


class Cluster:
    """An API server and nodes. Pods are named as `namespace/name`.

    kubeconfig  file by which the official client finds the API server, context `test`
    """

    context = "test"

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.folder = Path(tempfile.mkdtemp(prefix=f"{kind}-cluster-"))
        self._logs: LogServer | None = None
        self._api: FakeApi | RealApi
        folder = binaries()
        if kind == "real":
            assert folder is not None, f"{BINARIES} names no folder with {', '.join(PROGRAMS)}"
            self._api = RealApi(folder, self.folder)
            self.access = self._api.access
            self._logs = LogServer(self.folder, self._read_log)
        else:
            self._api = FakeApi(self._read_log)
            self.access = Access(self._api.url, "admin")
        self.kubeconfig, self._token = self.folder / "kubeconfig", self.folder / "token"
        self._token.write_text(self.access.token)
        self.kubeconfig.write_text(self.access.kubeconfig(self._token))
        self.rest = Rest(self.access)
        self._standin = StandIn(Rest(self.access), self.folder, self._logs.port if self._logs else 0)
        self._standin.start()
        self.restore()

    def _read_log(self, namespace: str, pod: str, query: LogQuery) -> Iterator[bytes]:
        return self._standin.kubelet.read_log(namespace, pod, query)

    # What there is

    def make_namespace(self) -> str:
        """A new namespace."""
        name = f"test-{uuid.uuid4().hex[:8]}"
        self.rest.insist("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        return name

    def jobs(self, namespace: str) -> list[Object]:
        """The jobs of a namespace."""
        return list(self.rest.insist("GET", f"/apis/batch/v1/namespaces/{namespace}/jobs")["items"])

    def pods(self, namespace: str) -> list[Object]:
        """The pods of a namespace."""
        return list(self.rest.insist("GET", f"/api/v1/namespaces/{namespace}/pods")["items"])

    def live_pods(self, namespace: str = "") -> list[str]:
        """The pods whose container runs."""
        return [pod for pod in self._standin.kubelet.live() if pod.startswith(namespace)]

    def output(self, pod: str) -> str:
        """What a pod's first container has written until now."""
        namespace, _, name = pod.partition("/")
        return b"".join(self._read_log(namespace, name, LogQuery())).decode()

    def node_of(self, pod: str) -> str:
        """The node that a pod is on; KeyError when there is no such pod."""
        namespace, _, name = pod.partition("/")
        pods = {item["metadata"]["name"]: item for item in self.pods(namespace)}
        return str(pods[name]["spec"]["nodeName"])

    @property
    def nodes(self) -> list[str]:
        """Names of the nodes."""
        return sorted(self._standin.nodes)

    # What happens in a cluster

    def kill(self, pod: str, container: str = "") -> None:
        """Kill a container of a pod, the first by default: exit code 137."""
        self._standin.kubelet.kill(pod, name=container)

    def kill_out_of_memory(self, pod: str) -> None:
        """Kill a pod's container because it takes more memory than its limit."""
        self._standin.kubelet.kill(pod, "OOMKilled")

    def limit_memory(self, namespace: str) -> None:
        """A namespace gets limits in which no pod of 1 GiB fits."""
        if isinstance(self._api, FakeApi):
            self.refuse_pods(namespace, "maximum memory usage per Container is 1Mi, but limit is 1Gi")
            return
        limits = {"limits": [{"type": "Container", "max": {"memory": "1Mi"}}]}
        body = {"metadata": {"name": "small"}, "spec": limits}
        self.rest.insist("POST", f"/api/v1/namespaces/{namespace}/limitranges", body)

    def refuse_pods(self, namespace: str, why: str) -> None:
        """The fake server lets no pod into a namespace, or does again when there is no reason not to."""
        assert isinstance(self._api, FakeApi)
        self._api.refusals[namespace] = why

    @property
    def gate(self) -> Gate:
        """Rules for Jobs that the fake server refuses."""
        assert isinstance(self._api, FakeApi)
        return self._api.gate

    def rotate_token(self) -> None:
        """Those who use the kubeconfig get another token; the server refuses the one that they had."""
        token = uuid.uuid4().hex
        self._api.know(self.access.token, token)
        self._token.write_text(token)

    @property
    def fake(self) -> FakeApi:
        """The fake server."""
        assert isinstance(self._api, FakeApi)
        return self._api

    def hold(self, job: Object) -> None:
        """Suspend a Job, as a queue does; its pods go."""
        self._suspend(job, True)

    def let_go(self, job: Object) -> None:
        """Let a Job begin that was suspended."""
        self._suspend(job, False)

    def _suspend(self, job: Object, suspend: bool) -> None:
        metadata = job["metadata"]
        path = f"/apis/batch/v1/namespaces/{metadata['namespace']}/jobs/{metadata['name']}"
        self.rest.insist("PATCH", path, {"spec": {"suspend": suspend}})

    def evict(self, pod: str) -> None:
        """End a pod because its node is short of memory; it stays, failed."""
        self._standin.kubelet.evict(pod, "The node was low on resource: memory.")

    def preempt(self, pod: str) -> None:
        """Delete a pod, with its grace period, to make room for one of a higher priority."""
        self._standin.kubelet.disrupt(pod, "PreemptionByScheduler")
        namespace, _, name = pod.partition("/")
        self.rest.insist("DELETE", f"/api/v1/namespaces/{namespace}/pods/{name}")

    def remove_node(self, name: str, notice: float = 0.0) -> None:
        """Take a machine away; its pods get SIGTERM so many seconds before, and are gone with it."""
        self._standin.remove_node(name, notice)

    def add_node(self, node: Node) -> None:
        """Add a machine."""
        self._standin.add_node(node)

    @property
    def missing_images(self) -> set[str]:
        """Parts of names of images that no registry has; tests add to it."""
        return self._standin.kubelet.missing_images

    @property
    def pull_error(self) -> str:
        """Error for images that cannot be pulled: no registry has them, unless tests say otherwise."""
        return self._standin.kubelet.pull_error

    @pull_error.setter
    def pull_error(self, why: str) -> None:
        self._standin.kubelet.pull_error = why

    @property
    def broken(self) -> dict[str, str]:
        """Node → why its runtime starts no container; tests add to it."""
        return self._standin.kubelet.broken

    def stop_api(self) -> None:
        """Take the API server away."""
        self._api.stop()

    def start_api(self) -> None:
        """Have it back; versions from before are too old for a watch then."""
        self._api.start()

    @contextmanager
    def api_away(self, seconds: float) -> Iterator[None]:
        """Take the API server away for so long, while the block runs and at least until it ends."""
        self.stop_api()
        back = threading.Timer(seconds, self.start_api)
        back.start()
        try:
            yield
        finally:
            back.join()

    def restore(self) -> None:
        """All nodes are there again and as they should be, every image, and whole logs."""
        if isinstance(self._api, FakeApi):
            self._api.kueue = None
            self._api.held.clear()
        self.missing_images.clear()
        self.pull_error = NOT_FOUND
        self.broken.clear()
        for node in NODES:
            if node.name not in self._standin.nodes:
                self.add_node(node)

    def empty(self, namespace: str, seconds: float = PATIENCE) -> None:
        """Delete a namespace's jobs and pods, and wait until they are gone."""
        self.rest.insist("DELETE", f"/apis/batch/v1/namespaces/{namespace}/jobs?propagationPolicy=Background")
        self.rest.insist("DELETE", f"/api/v1/namespaces/{namespace}/pods?gracePeriodSeconds=0")
        deadline = time.monotonic() + seconds
        while self.jobs(namespace) or self.pods(namespace) or self.live_pods(namespace):
            if time.monotonic() > deadline:
                raise RuntimeError(f"pods of {namespace} do not end: {self.live_pods(namespace)}")
            time.sleep(0.05)

    def close(self) -> None:
        """End everything that was started."""
        self._standin.close()
        self.rest.close()
        self._api.close()
        if self._logs:
            self._logs.end()
        rmtree(self.folder, ignore_errors=True)
