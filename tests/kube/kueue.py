"""Kueue's API for the Jobs that it holds back: one Workload for each."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.kube.objects import ApiError, Object
from tests.kube.selectors import selector

GROUP = "kueue.x-k8s.io"


class Kueue:
    """The Workloads of a cluster.

    version  of the API that it prefers
    """

    def __init__(self, version: str = "v1beta2") -> None:
        self.version = version
        self._workloads: dict[str, Object] = {}

    def hold(self, job: Object, queue: str, *conditions: dict[str, Any]) -> None:
        """Have a Job in a queue."""
        metadata = job["metadata"]
        name = f"job-{metadata['name']}-0a1b2"
        self._workloads[name] = {
            "apiVersion": f"{GROUP}/{self.version}",
            "kind": "Workload",
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": {f"{GROUP}/job-uid": metadata["uid"]},
            },
            "spec": {"active": True, "queueName": queue},
            "status": {"conditions": list(conditions)},
        }

    def answer(self, path: str) -> Object:
        """The answer to a request: the group, or Workloads of a namespace."""
        url = urlsplit(path)
        if url.path == f"/apis/{GROUP}":
            version = {"groupVersion": f"{GROUP}/{self.version}", "version": self.version}
            return {"kind": "APIGroup", "name": GROUP, "versions": [version], "preferredVersion": version}
        start, _, rest = url.path.partition("/namespaces/")
        namespace, _, plural = rest.partition("/")
        if (start, plural) != (f"/apis/{GROUP}/{self.version}", "workloads"):
            raise ApiError(404, "NotFound", "the server could not find the requested resource")
        selects = selector(dict(parse_qsl(url.query)))
        found = [one for one in self._workloads.values() if one["metadata"]["namespace"] == namespace]
        return {"kind": "WorkloadList", "metadata": {}, "items": list(filter(selects, found))}
