"""The kinds of objects that the fake API server keeps, and what it does to new ones."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.kube.fields import check_fields, check_metadata
from tests.kube.objects import ApiError, Name, Object, Objects, timestamp

GRACE_SECONDS = 30
_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"


def _default_pod(pod: Object) -> None:
    pod["status"] = {"phase": "Pending"}
    spec = pod["spec"]
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    for container in spec["containers"]:
        resources = container.setdefault("resources", {})
        if "limits" in resources:
            resources["requests"] = {**resources["limits"], **resources.get("requests", {})}


def _default_job(job: Object) -> None:
    spec, uid = job["spec"], job["metadata"]["uid"]
    template = spec["template"]
    if template["spec"].get("restartPolicy") not in ("Never", "OnFailure"):
        message = 'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
        raise ApiError(422, "Invalid", message)
    for field in ("completions", "parallelism"):
        if spec.setdefault(field, 1) != 1:
            raise ApiError(400, "BadRequest", f"spec.{field}: this server runs one pod at a time")
    spec.setdefault("backoffLimit", 6)
    spec["selector"] = {"matchLabels": {"controller-uid": uid}}
    labels = {"controller-uid": uid, "job-name": job["metadata"]["name"]}
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = {**metadata.get("labels", {}), **labels}
    job["status"] = {}


def _nothing(_value: Object) -> None:
    pass


@dataclass(frozen=True)
class Kind:
    """A kind of object: its plural stands in the path, its group and version before it."""

    name: str
    plural: str
    version: str
    namespaced: bool = True
    longest_name: int = 253
    default: Callable[[Object], None] = _nothing

    @property
    def model(self) -> str:
        """The official client's class."""
        return {"Event": "CoreV1Event"}.get(self.name, f"V1{self.name}")


KINDS = {
    kind.plural: kind
    for kind in (
        Kind("Pod", "pods", "v1", default=_default_pod),
        Kind("Job", "jobs", "batch/v1", longest_name=63, default=_default_job),
        Kind("Node", "nodes", "v1", namespaced=False),
        Kind("Namespace", "namespaces", "v1", namespaced=False, longest_name=63),
        Kind("Secret", "secrets", "v1"),
        Kind("Event", "events", "v1"),
    )
}


def create(objects: Objects, kind: Kind, namespace: str, body: Object) -> Object:
    """Check an object, complete it and keep it."""
    check_fields(body, kind.model)
    if kind.namespaced and ("namespaces", "", namespace) not in objects.all("namespaces"):
        raise ApiError(404, "NotFound", f'namespaces "{namespace}" not found')
    metadata = dict(body.get("metadata") or {})
    if not metadata.get("name") and metadata.get("generateName"):
        metadata["name"] = metadata["generateName"] + "".join(random.choices(_SUFFIX, k=5))
    if not metadata.get("name"):
        raise ApiError(422, "Invalid", "metadata.name: Required value: name or generateName is required")
    if kind.namespaced:
        metadata["namespace"] = namespace
    value = {**body, "apiVersion": kind.version, "kind": kind.name, "metadata": metadata}
    check_metadata(value, kind.longest_name)
    return objects.add((kind.plural, namespace, metadata["name"]), value, kind.default)


def delete(objects: Objects, name: Name, policy: str | None = None, grace: int | None = None) -> Object:
    """Delete an object. A pod that runs gets its grace period, and goes when its kubelet says so.

    policy  what becomes of a job's pods; jobs that are deleted without one leave their pods behind
    """
    value = objects.get(name)
    if name[0] == "pods" and _ends_later(value, grace):
        return objects.change(name, lambda pod: _mark_deleted(pod, grace))
    if name[0] == "jobs" and policy != "Background":
        if policy not in (None, "Orphan"):
            raise ApiError(400, "BadRequest", f"propagationPolicy: this server does not know {policy}")
        _orphan_pods(objects, value)
    return objects.remove(name)


def _ends_later(pod: Object, grace: int | None) -> bool:
    is_live = bool(pod["spec"].get("nodeName")) and pod["status"]["phase"] not in ("Succeeded", "Failed")
    return is_live and grace != 0


def _mark_deleted(pod: Object, grace: int | None) -> None:
    metadata = pod["metadata"]
    seconds = pod["spec"]["terminationGracePeriodSeconds"] if grace is None else grace
    metadata.setdefault("deletionTimestamp", timestamp())
    metadata["deletionGracePeriodSeconds"] = min(seconds, metadata.get("deletionGracePeriodSeconds", seconds))


def _orphan_pods(objects: Objects, job: Object) -> None:
    for name, pod in objects.all("pods", job["metadata"]["namespace"]).items():
        if owner_of(pod) == job["metadata"]["uid"]:
            objects.change(name, lambda pod: pod["metadata"].pop("ownerReferences"))


def owner_of(value: Object) -> str:
    """The uid of an object's owner, empty without one."""
    references = value["metadata"].get("ownerReferences") or [{"uid": ""}]
    return str(references[0]["uid"])
