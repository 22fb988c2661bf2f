"""Controllers of the fake API server: jobs get their pods and their ends, orphans are collected.

Of jobs only those are offered that run one pod at a time. Where servers differ by age, this one is as current
ones are: a pod that is deleted before it has ended counts as failed.
"""

from __future__ import annotations

import copy
import hashlib
import random
import string
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from tests.kube.events import Correlator, Told, pauses
from tests.kube.objects import ApiError, Name, Object, Objects, timestamp
from tests.kube.resources import KINDS, create, delete, owner_of

_TICK_SECONDS = 0.25  # deadlines and times to live are looked at so often


@dataclass
class _Backoff:
    """Time at which a Job whose pod was refused may try again."""

    pauses: Iterator[float] = field(default_factory=pauses)
    due: float = 0.0


class Controllers(threading.Thread):
    """The thread of all controllers.

    refusals  namespace → why no pod is let in there
    """

    def __init__(self, objects: Objects) -> None:
        super().__init__(name="fake controllers", daemon=True)
        self._objects = objects
        self._ends: dict[str, dict[str, bool]] = defaultdict(dict)  # job → pod → whether it succeeded
        self._seen: dict[str, set[str]] = defaultdict(set)
        self._stopped = threading.Event()
        self._events = Correlator(time.monotonic)
        self._backoffs: dict[str, _Backoff] = defaultdict(_Backoff)
        self.refusals: dict[str, str] = {}

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()
        self.join()

    def run(self) -> None:
        """The thread."""
        version = self._objects.version
        while not self._stopped.is_set():
            self._look()
            with suppress(ApiError):  # what changed is not asked for, only whether something did
                self._objects.changes(version, _TICK_SECONDS)
            version = self._objects.version

    def _look(self) -> None:
        jobs, pods = self._objects.all("jobs"), self._objects.all("pods")
        uids = {job["metadata"]["uid"] for job in jobs.values()}
        owned: dict[str, dict[Name, Object]] = defaultdict(dict)
        for name, pod in pods.items():
            owned[owner_of(pod)][name] = pod
            if owner_of(pod) and owner_of(pod) not in uids and not _is_deleted(pod):
                self._delete_pod(name)
        for name, job in jobs.items():
            with suppress(ApiError):  # it has just been deleted
                self._look_at(name, job, owned[job["metadata"]["uid"]])

    def _look_at(self, name: Name, job: Object, pods: dict[Name, Object]) -> None:
        if end := _condition(job):
            ttl = job["spec"].get("ttlSecondsAfterFinished")
            if ttl is not None and _age(end["lastTransitionTime"]) >= ttl:
                delete(self._objects, name, "Background")
            return
        active = {pod_name: pod for pod_name, pod in pods.items() if _is_active(pod)}
        ends = self._count(job["metadata"]["uid"], pods)
        failed = len(ends) - sum(ends.values())
        status: Object = {"failed": failed} if failed else {}
        spec = job["spec"]
        if spec.get("suspend"):
            self._suspend(name, job, active)
            return
        began = job["status"].get("startTime") or timestamp()
        if sum(ends.values()):
            self._finish(name, {**status, "startTime": began, "succeeded": 1}, "Complete", "", "", active)
        elif failed > spec["backoffLimit"]:
            message = "Job has reached the specified backoff limit"
            status["startTime"] = began
            self._finish(name, status, "Failed", "BackoffLimitExceeded", message, active)
        elif (limit := spec.get("activeDeadlineSeconds")) and _age(began) >= limit:
            message = "Job was active longer than specified deadline"
            status = {"failed": failed + len(active), "startTime": began}
            self._finish(name, status, "Failed", "DeadlineExceeded", message, active)
        else:
            if not active:
                self._start_pod(job)
            self._objects.change(
                name, lambda job: _set_status(job, {**status, "active": 1, "startTime": began})
            )

    def _suspend(self, name: Name, job: Object, active: dict[Name, Object]) -> None:
        """A Job that is held back has no pods, and its deadline does not come nearer."""
        for pod_name in active:
            self._delete_pod(pod_name)
        if "startTime" not in job["status"] and job["status"].get("conditions"):
            return
        condition = {"type": "Suspended", "status": "True", "reason": "JobSuspended"}
        condition |= {"message": "Job suspended", "lastTransitionTime": timestamp()}
        self._objects.change(name, lambda job: _set_status(job, {"conditions": [condition]}))
        if told := self._events.tell(job["metadata"]["uid"], "Suspended", "Job suspended"):
            self._tell(job["metadata"], "Suspended", told)

    def _count(self, uid: str, pods: dict[Name, Object]) -> dict[str, bool]:
        """Count the ends of a job's pods; a pod that vanished, or is being deleted, has failed."""
        ends, present = self._ends[uid], set()
        for pod in pods.values():
            present.add(pod_uid := pod["metadata"]["uid"])
            if pod["status"]["phase"] == "Succeeded":
                ends.setdefault(pod_uid, True)
            elif not _is_active(pod):
                ends.setdefault(pod_uid, False)
        for pod_uid in self._seen[uid] - present:
            ends.setdefault(pod_uid, False)
        self._seen[uid] |= present
        return ends

    def _start_pod(self, job: Object) -> None:
        template, metadata = copy.deepcopy(job["spec"]["template"]), job["metadata"]
        backoff = self._backoffs[metadata["uid"]]
        if time.monotonic() < backoff.due:
            return
        if refusal := self.refusals.get(metadata["namespace"]):
            backoff.due = time.monotonic() + next(backoff.pauses)
            self._refuse(job, refusal)
            return
        template["metadata"]["generateName"] = f"{metadata['name']}-"
        template["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": metadata["name"],
                "uid": metadata["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ]
        pod = create(self._objects, KINDS["pods"], metadata["namespace"], template)
        self._seen[metadata["uid"]].add(pod["metadata"]["uid"])

    def _refuse(self, job: Object, refusal: str) -> None:
        metadata = job["metadata"]
        suffix = "".join(random.choices(string.ascii_lowercase, k=5))
        message = f'Error creating: pods "{metadata["name"]}-{suffix}" is forbidden: {refusal}'
        if told := self._events.tell(metadata["uid"], "FailedCreate", message):
            self._tell(metadata, "FailedCreate", told)

    def _tell(self, metadata: Object, reason: str, told: Told) -> None:
        reference = {"kind": "Job", "namespace": metadata["namespace"], "name": metadata["name"]}
        event: Object = {
            "metadata": {"name": f"{metadata['name']}.{hashlib.md5(repr(told.key).encode()).hexdigest()}"},
            "involvedObject": {**reference, "uid": metadata["uid"]},
            "reason": reason,
            "message": told.message,
            "type": "Warning" if reason == "FailedCreate" else "Normal",
            "count": told.count,
            "lastTimestamp": timestamp(),
        }
        if told.count > 1:  # it has expired where there is none
            with suppress(ApiError):
                delete(self._objects, ("events", metadata["namespace"], event["metadata"]["name"]))
        create(self._objects, KINDS["events"], metadata["namespace"], event)

    def _finish(
        self, name: Name, status: Object, type_: str, reason: str, message: str, active: dict[Name, Object]
    ) -> None:
        for pod_name in active:
            self._delete_pod(pod_name)
        now = timestamp()
        condition = {"type": type_, "status": "True", "lastProbeTime": now, "lastTransitionTime": now}
        if type_ == "Complete":
            status["completionTime"] = now
        else:
            condition |= {"reason": reason, "message": message}
        self._objects.change(name, lambda job: _set_status(job, {**status, "conditions": [condition]}))

    def _delete_pod(self, name: Name) -> None:
        with suppress(ApiError):
            delete(self._objects, name)


def _set_status(job: Object, status: Object) -> None:
    job["status"] = status


def _condition(job: Object) -> Object | None:
    """Final condition of a job, None before its end."""
    ends = [item for item in job["status"].get("conditions", []) if item["type"] in ("Complete", "Failed")]
    return ends[0] if ends else None


def _is_deleted(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def _is_active(pod: Object) -> bool:
    return pod["status"]["phase"] not in ("Succeeded", "Failed") and not _is_deleted(pod)


def _age(moment: str) -> float:
    return time.time() - datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
