"""What the runner reads of the cluster's jobs and pods, out of their JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Object: TypeAlias = "Mapping[str, Any]"

# Labels; a prefix of our own, as other tools label jobs, too
STORE = "translations/store"
STEP = "translations/step"
STAGE = "translations/stage"
WORKER_CLASS = "translations/worker-class"
MACHINE = "translations/machine"
# Annotations, which may be longer
MEMBERS = "translations/members"
SPEC = "translations/spec"
PREEMPTIONS = "translations/preemptions"


@dataclass(frozen=True)
class Member:
    """A step in a job, and the attempt that the job makes of it."""

    key: str
    generation: int
    attempt: int
    label: str

    @property
    def step(self) -> tuple[str, int]:
        """What is made: the same for every attempt."""
        return self.key, self.generation


@dataclass(frozen=True)
class JobState:
    """A job.

    ended        `Complete`, `Failed`, or empty while it goes on
    preemptions  how many of its step's attempts had lost their machine before this one
    image        of its worker
    """

    name: str
    uid: str
    labels: Mapping[str, str]
    members: tuple[Member, ...]
    spec: str
    image: str
    preemptions: int
    deleting: bool
    ended: str
    reason: str
    message: str

    @property
    def live(self) -> bool:
        """Whether it runs, or will."""
        return not self.ended and not self.deleting

    @classmethod
    def of(cls, value: Object) -> JobState:
        """A job from the cluster's JSON."""
        metadata = value["metadata"]
        annotations = metadata.get("annotations") or {}
        conditions = {
            item["type"]: item
            for item in (value.get("status") or {}).get("conditions") or ()
            if item["status"] == "True"
        }
        ended = conditions.get("Complete") or conditions.get("Failed") or {}
        return cls(
            name=metadata["name"],
            uid=metadata["uid"],
            labels=metadata.get("labels") or {},
            members=unpack_members(annotations.get(MEMBERS, "[]")),
            spec=annotations.get(SPEC, ""),
            image=value["spec"]["template"]["spec"]["containers"][0]["image"],
            preemptions=int(annotations.get(PREEMPTIONS, 0)),
            deleting=bool(metadata.get("deletionTimestamp")),
            ended=ended.get("type", ""),
            reason=ended.get("reason", ""),
            message=ended.get("message", ""),
        )


@dataclass(frozen=True)
class PodState:
    """A pod.

    job           name of its job
    reason        `Evicted` and the like, of the whole pod
    disruption    (reason, message) of the condition that somebody takes the pod's machine away
    unscheduled   the scheduler's message, while no machine has been found
    waiting       (reason, message) of a container that cannot start yet
    started       whether the worker runs, or has run
    exit_code     of the worker, once it has ended
    exit_reason   `OOMKilled` and the like
    last_words    what the worker left for the cluster when it ended
    """

    name: str
    uid: str
    job: str
    created: str
    node: str
    deleting: bool
    phase: str
    reason: str
    message: str
    disruption: tuple[str, str] | None
    unscheduled: str
    waiting: tuple[str, str] | None
    started: bool
    exit_code: int | None
    exit_reason: str
    last_words: str

    @property
    def ended(self) -> bool:
        """Whether nothing of it runs any more."""
        return self.phase in ("Succeeded", "Failed") or self.exit_code is not None

    @classmethod
    def of(cls, value: Object) -> PodState:
        """A pod from the cluster's JSON."""
        metadata, status = value["metadata"], value.get("status") or {}
        conditions = {item["type"]: item for item in status.get("conditions") or ()}
        disruption = conditions.get("DisruptionTarget", {})
        scheduled = conditions.get("PodScheduled", {})
        containers = [
            *(status.get("initContainerStatuses") or ()),
            *(status.get("containerStatuses") or ()),
        ]
        waiting = next((item for item in map(_waiting, containers) if item), None)
        state = _worker(status.get("containerStatuses") or ())
        terminated = state.get("terminated") or {}
        return cls(
            name=metadata["name"],
            uid=metadata["uid"],
            job=(metadata.get("labels") or {}).get("job-name", ""),
            created=metadata.get("creationTimestamp") or "",
            node=value.get("spec", {}).get("nodeName") or "",
            deleting=bool(metadata.get("deletionTimestamp")),
            phase=status.get("phase") or "Pending",
            reason=status.get("reason") or "",
            message=status.get("message") or "",
            disruption=_said(disruption) if disruption.get("status") == "True" else None,
            unscheduled=(scheduled.get("message") or "") if scheduled.get("status") == "False" else "",
            waiting=waiting,
            started="running" in state or bool(terminated),
            exit_code=terminated.get("exitCode"),
            exit_reason=terminated.get("reason") or "",
            last_words=terminated.get("message") or "",
        )


def pack_members(members: tuple[Member, ...]) -> str:
    """Members as an annotation."""
    return json.dumps([[item.key, item.generation, item.attempt, item.label] for item in members])


def unpack_members(text: str) -> tuple[Member, ...]:
    """The members of an annotation."""
    return tuple(Member(*item) for item in json.loads(text))


def _worker(containers: Any) -> Object:
    """The state of the worker's container, which stands first; a deployment may put others beside it."""
    state: Object = (containers[0].get("state") or {}) if containers else {}
    return state


def _waiting(container: Object) -> tuple[str, str] | None:
    waiting = (container.get("state") or {}).get("waiting")
    return _said(waiting) if waiting else None


def _said(item: Object) -> tuple[str, str]:
    return item.get("reason") or "", item.get("message") or ""
