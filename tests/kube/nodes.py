"""Nodes, and which of them can take a pod."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.kube.objects import Object, timestamp

GPU = "nvidia.com/gpu"
_UNITS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


@dataclass(frozen=True)
class Node:
    """A machine of the cluster.

    taints  key → value of taints with effect NoSchedule
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: Mapping[str, str] = field(default_factory=dict)
    cpu: str = "8"
    memory: str = "64Gi"
    gpus: int = 0
    pods: int = 110

    @property
    def capacity(self) -> dict[str, str]:
        """Resources of the node."""
        return {
            "cpu": self.cpu,
            "memory": self.memory,
            "ephemeral-storage": "1Ti",
            "pods": str(self.pods),
            **({GPU: str(self.gpus)} if self.gpus else {}),
        }

    def object(self) -> Object:
        """The node without its status."""
        taints = [{"key": key, "value": value, "effect": "NoSchedule"} for key, value in self.taints.items()]
        return {"metadata": {"name": self.name, "labels": dict(self.labels)}, "spec": {"taints": taints}}

    def status(self, kubelet_port: int) -> Object:
        """The status that its kubelet reports."""
        now = timestamp()
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}
        return {
            "capacity": self.capacity,
            "allocatable": self.capacity,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet_port}},
            "conditions": [{**ready, "lastHeartbeatTime": now, "lastTransitionTime": now}],
        }


def place(pod: Object, nodes: Iterable[Node], bound: Iterable[Object]) -> tuple[Node | None, str]:
    """The first node that can take a pod; else None and what is missing, in the scheduler's words.

    bound  the pods that take up room on nodes now
    """
    used: dict[str, dict[str, float]] = {}
    for other in bound:
        on_node = used.setdefault(other["spec"]["nodeName"], {})
        for name, request in _requests(other).items():
            on_node[name] = on_node.get(name, 0) + request
    reasons: Counter[str] = Counter()
    all_nodes = list(nodes)
    for node in all_nodes:
        obstacles = _obstacles(pod, node, used.get(node.name, {}))
        if not obstacles:
            return node, ""
        reasons.update(obstacles)
    told = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    if not all_nodes:
        return None, "no nodes available to schedule pods"
    return None, f"0/{len(all_nodes)} nodes are available: {told}."


def _obstacles(pod: Object, node: Node, used: Mapping[str, float]) -> list[str]:
    spec = pod["spec"]
    for taint in node.taints.items():
        if not any(_tolerates(toleration, *taint) for toleration in spec.get("tolerations") or ()):
            return [f"node(s) had untolerated taint {{{taint[0]}: {taint[1]}}}"]
    wanted = spec.get("nodeSelector") or {}
    if any(node.labels.get(label) != value for label, value in wanted.items()):
        return ["node(s) didn't match Pod's node affinity/selector"]
    capacity = {name: amount(quantity) for name, quantity in node.capacity.items()}
    return [
        "Too many pods" if name == "pods" else f"Insufficient {name}"
        for name, request in _requests(pod).items()
        if used.get(name, 0) + request > capacity.get(name, 0) + 1e-6
    ]


def _tolerates(toleration: Object, key: str, value: str) -> bool:
    if toleration.get("effect") not in (None, "", "NoSchedule"):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", key)
    return toleration.get("key") == key and toleration.get("value", "") == value


def _requests(pod: Object) -> dict[str, float]:
    wanted: dict[str, float] = {"pods": 1}
    for container in pod["spec"]["containers"]:
        for name, quantity in (container.get("resources", {}).get("requests") or {}).items():
            wanted[name] = wanted.get(name, 0) + amount(quantity)
    return wanted


def amount(quantity: str | int) -> float:
    """The number that a quantity (`500m`, `64Gi`) stands for."""
    text = str(quantity)
    for unit in sorted(_UNITS, key=len, reverse=True):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * _UNITS[unit]
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)
