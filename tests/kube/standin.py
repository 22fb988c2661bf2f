"""Stands in for scheduler and kubelets: binds pods to nodes that can take them and has them run."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

import urllib3

from tests.kube.kubelet import Kubelet, path_of
from tests.kube.nodes import Node, place
from tests.kube.objects import ApiError, Object, timestamp
from tests.kube.rest import Rest

_ALL_PODS = "/api/v1/pods"
_PAUSE_SECONDS = 0.1


class StandIn(threading.Thread):
    """Watches the pods of an API server. Nodes are added and removed while it runs."""

    def __init__(self, rest: Rest, folder: Path, kubelet_port: int = 0) -> None:
        super().__init__(name="scheduler", daemon=True)
        self._rest = rest
        self.kubelet = Kubelet(rest, folder)
        self.kubelet_port = kubelet_port
        self._nodes: dict[str, Node] = {}
        self._pods: dict[str, Object] = {}
        self._told: dict[str, str] = {}
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self.most_pods = 0

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name."""
        with self._lock:
            return dict(self._nodes)

    def add_node(self, node: Node) -> None:
        """Register a node."""
        self._rest.insist("POST", "/api/v1/nodes", node.object())
        status = {"status": node.status(self.kubelet_port)}
        self._rest.insist("PATCH", f"/api/v1/nodes/{node.name}/status", status)
        with self._lock:
            self._nodes[node.name] = node
            self._schedule()

    def remove_node(self, name: str, notice: float) -> None:
        """A node goes away: its pods get SIGTERM so many seconds before; then it and its pods are gone."""
        with self._lock:
            del self._nodes[name]
            pods = [pod for pod in self._pods.values() if pod["spec"].get("nodeName") == name]
        self.kubelet.shut_down(name, notice)
        self._rest.insist("DELETE", f"/api/v1/nodes/{name}")
        for pod in pods:
            self._rest.insist("DELETE", path_of(pod), {"gracePeriodSeconds": 0})

    def close(self) -> None:
        """End all pods and the thread."""
        self._closed.set()
        self.kubelet.close()
        self._rest.close()

    def run(self) -> None:
        """The thread."""
        while not self._closed.is_set():
            try:
                found = self._rest.call("GET", _ALL_PODS)
                self._start_over(found["items"])
                for type_, pod in self._rest.watch(_ALL_PODS, found["metadata"]["resourceVersion"]):
                    self._see(type_, pod)
            except (ApiError, urllib3.exceptions.HTTPError):  # it is away, or knows that version no more
                self._closed.wait(_PAUSE_SECONDS)

    def _start_over(self, pods: Iterable[Object]) -> None:
        with self._lock:
            self._pods = {pod["metadata"]["uid"]: pod for pod in pods}
            for uid in self.kubelet.uids() - self._pods.keys():
                self.kubelet.forget(uid)
            for pod in self._pods.values():
                self._act(pod)
            self._schedule()

    def _see(self, type_: str, pod: Object) -> None:
        with self._lock:
            uid = pod["metadata"]["uid"]
            if type_ == "DELETED":
                self._pods.pop(uid, None)
                self._told.pop(uid, None)
                self.kubelet.forget(uid)
            else:
                self._pods[uid] = pod
                self._act(pod)
            self._schedule()
            self.most_pods = max(self.most_pods, sum(map(_takes_room, self._pods.values())))

    def _act(self, pod: Object) -> None:
        """Have a pod run, or end."""
        if pod["metadata"].get("deletionTimestamp"):
            self.kubelet.stop(pod)
        elif pod["spec"].get("nodeName") in self._nodes and pod["status"].get("phase") == "Pending":
            self.kubelet.start(pod)

    def _schedule(self) -> None:
        """Bind what waits, first come first served; say of the rest what is missing."""
        for uid, pod in list(self._pods.items()):
            if pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp"):
                continue
            node, missing = place(pod, self._nodes.values(), filter(_takes_room, self._pods.values()))
            if node:
                self._bind(uid, pod, node)
            elif self._told.get(uid) != missing:
                self._told[uid] = missing
                self._say_unschedulable(pod, missing)

    def _bind(self, uid: str, pod: Object, node: Node) -> None:
        name = pod["metadata"]["name"]
        target = {"apiVersion": "v1", "kind": "Node", "name": node.name}
        self._rest.insist("POST", f"{path_of(pod)}/binding", {"metadata": {"name": name}, "target": target})
        self._pods[uid] = {**pod, "spec": {**pod["spec"], "nodeName": node.name}}

    def _say_unschedulable(self, pod: Object, missing: str) -> None:
        condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": missing}
        status = {"conditions": [{**condition, "lastTransitionTime": timestamp()}]}
        self._rest.insist("PATCH", f"{path_of(pod)}/status", {"status": status})


def _takes_room(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName")) and pod["status"].get("phase") not in ("Succeeded", "Failed")
