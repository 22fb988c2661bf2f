"""States of jobs and pods as the cluster reports them, and the end of an attempt, in words for people."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from translations_assets.runners.batch.member import Member

Object: TypeAlias = "Mapping[str, Any]"

Cause = Literal[
    "ended",
    "script",
    "preempted",
    "evicted",
    "rejected",
    "queued",
    "memory",
    "image",
    "start",
    "deadline",
    "gone",
]
_KILLED = 128 + signal.SIGKILL
_TERMINATED = 128 + signal.SIGTERM
_NOT_YET = {"PodInitializing", "ContainerCreating"}  # said while nothing is wrong
# Why a container cannot start; some pass with the kubelet's next try
_PULL = {
    "ErrImagePull",
    "ImagePullBackOff",
    "RegistryUnavailable",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
}
NOT_STARTED = ("StartError", "ContainerCannotRun")  # of a container whose message is not its own
_CONFIG = "CreateContainerConfigError"  # a secret that is not there, on whatever node
_CREATE = {
    _CONFIG,
    "CreateContainerError",
    "RunContainerError",
    "PreCreateHookError",
    "PreStartHookError",
}
# A registry or a network that fails: the kubelet tries again
_MAY_PASS = re.compile(
    r"timeout|timed out|deadline exceeded|connection re(?:fused|set)|server misbehaving|Temporary failure|EOF"
    r"|toomanyrequests|Too Many Requests|QPS exceeded|Internal Server Error|Bad Gateway|Service Unavailable"
)
# An image without the program, or for another processor: the same on every node
_NO_PROGRAM = re.compile(
    r'executable file .*not found|exec: "[^"]*": .*(?:no such file|permission denied)|exec format error'
)


class _Reason(NamedTuple):
    """Meaning of one of the cluster's reasons for the attempt.

    said  in place of the message that comes with it
    """

    cause: Cause
    words: str
    said: str = ""


_TAKEN_AWAY = _Reason("preempted", "the machine was taken away")
_EVICTED = _Reason("evicted", "the pod was evicted")
_REJECTED = _Reason("rejected", "the node rejected the pod")
_COULD_NOT_START = _Reason("start", "the container could not be started")
_REASONS = {
    # of a pod, by its kubelet or by the controller of nodes
    "Evicted": _EVICTED,
    "DeadlineExceeded": _Reason("deadline", "the pod exceeded its time limit"),
    **dict.fromkeys(("NodeShutdown", "Shutdown", "Terminated", "NodeLost"), _TAKEN_AWAY),
    **dict.fromkeys(("Preempting", "Preempted"), _TAKEN_AWAY),
    # of a pod that was bound to a node as it is not any more: it has restarted, or lost a GPU
    **dict.fromkeys(("UnexpectedAdmissionError", "TopologyAffinityError", "OutOf"), _REJECTED),
    **dict.fromkeys(("NodeAffinity", "NodeName", "NodePorts"), _REJECTED),
    # of the condition that a pod is to be disrupted
    **dict.fromkeys(("TerminationByKubelet", "EvictionByEvictionAPI"), _EVICTED),
    **dict.fromkeys(("PreemptionByScheduler", "DeletionByTaintManager", "DeletionByPodGC"), _TAKEN_AWAY),
    # of a container
    "OOMKilled": _Reason("memory", "out of memory", "the pod used more than its limit"),
    "ContainerStatusUnknown": _Reason("preempted", "the container was lost with its machine"),
    **dict.fromkeys(NOT_STARTED, _COULD_NOT_START),
}
CONTAINER = "worker"  # ours in a pod: a deployment or the cluster may add others before and after it
TOLD_TO_END = "SIGTERM"  # stands in the message of a worker whose pod got it
_OUT_OF_MEMORY = "ran out of memory"  # in that of one whose script alone was killed


class Label:
    """Labels of Jobs and pods."""

    STORE = "translations/store"
    STEP = "translations/step"
    STAGE = "translations/stage"
    WORKER_CLASS = "translations/worker-class"
    MACHINE = "translations/machine"
    LASTING = "translations/lasting"  # selected by the PodDisruptionBudget in deploy/kubernetes/base


class Annotation:
    """Annotations of Jobs, which may be longer than labels."""

    MEMBERS = "translations/members"
    SPEC = "translations/spec"
    PREEMPTIONS = "translations/preemptions"


@dataclass(frozen=True)
class JobState:
    """A job.

    suspended    whether it is held back, as a queue (Kueue) does until there is room
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
    suspended: bool
    ended: str
    reason: str
    message: str

    @property
    def live(self) -> bool:
        """True if it runs, or will."""
        return not self.ended and not self.deleting

    @property
    def worker_class(self) -> str:
        """The name of its worker class."""
        return self.labels.get(Label.WORKER_CLASS, "")

    @property
    def store(self) -> str:
        """The label of its store."""
        return self.labels.get(Label.STORE, "")

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
            members=tuple(Member(*item) for item in json.loads(annotations.get(Annotation.MEMBERS, "[]"))),
            spec=annotations.get(Annotation.SPEC, ""),
            image=_own(value["spec"]["template"]["spec"]["containers"]).get("image", ""),
            preemptions=int(annotations.get(Annotation.PREEMPTIONS, 0)),
            deleting=bool(metadata.get("deletionTimestamp")),
            suspended=bool(value["spec"].get("suspend")),
            ended=ended.get("type", ""),
            reason=ended.get("reason", ""),
            message=ended.get("message", ""),
        )


@dataclass(frozen=True)
class PodState:
    """A pod.

    job           name of its job
    grace         seconds from SIGTERM to SIGKILL
    reason        `Evicted` and the like, of the whole pod
    disruption    (reason, message) of the condition that the pod's machine is taken away
    unscheduled   the scheduler's message, while no machine has been found
    waiting       (reason, message) of a container that cannot start, before those that wait for it
    init_failure  which container that runs before the worker has failed, and how
    started       whether the worker runs, or has run
    company       names of other containers that run, and do not end by themselves with the worker
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
    grace: float
    phase: str
    reason: str
    message: str
    disruption: tuple[str, str] | None
    unscheduled: str
    waiting: tuple[str, str] | None
    init_failure: str
    started: bool
    company: tuple[str, ...]
    exit_code: int | None
    exit_reason: str
    last_words: str

    @property
    def ended(self) -> bool:
        """True if nothing of it runs any more but what keeps the worker company."""
        return self.phase in ("Succeeded", "Failed") or self.exit_code is not None

    @classmethod
    def of(cls, value: Object) -> PodState:
        """A pod from the cluster's JSON."""
        metadata, status = value["metadata"], value.get("status") or {}
        conditions = {item["type"]: item for item in status.get("conditions") or ()}
        disruption = conditions.get("DisruptionTarget", {})
        scheduled = conditions.get("PodScheduled", {})
        containers = status.get("containerStatuses") or ()  # sorted by name
        state = _own(containers).get("state") or {}
        before = status.get("initContainerStatuses") or ()
        states = [state, *(item.get("state") or {} for item in (*before, *containers))]
        waits = (item["waiting"] for item in states if item.get("waiting"))
        waiting = next((item for item in waits if item.get("reason") not in _NOT_YET), None)
        terminated = state.get("terminated") or {}
        return cls(
            name=metadata["name"],
            uid=metadata["uid"],
            job=(metadata.get("labels") or {}).get("job-name", ""),
            created=metadata.get("creationTimestamp") or "",
            node=value.get("spec", {}).get("nodeName") or "",
            deleting=bool(metadata.get("deletionTimestamp")),
            grace=float(value.get("spec", {}).get("terminationGracePeriodSeconds") or 0),
            phase=status.get("phase") or "Pending",
            reason=status.get("reason") or "",
            message=status.get("message") or "",
            disruption=_reason_and_message(disruption) if disruption.get("status") == "True" else None,
            unscheduled=(scheduled.get("message") or "") if scheduled.get("status") == "False" else "",
            waiting=_reason_and_message(waiting) if waiting else None,
            init_failure=next(filter(None, map(_init_failure, before)), ""),
            started="running" in state or bool(terminated),
            company=tuple(
                item["name"]
                for item in containers
                if item.get("name") != CONTAINER and "running" in (item.get("state") or {})
            ),
            exit_code=terminated.get("exitCode"),
            exit_reason=terminated.get("reason") or "",
            last_words=terminated.get("message") or "",
        )


def _own(containers: Sequence[Object]) -> Object:
    """The worker's among a pod's containers, or among their statuses; nothing while there is none."""
    return next((item for item in containers if item.get("name") == CONTAINER), {})


def _init_failure(status: Object) -> str:
    ended = (status.get("state") or {}).get("terminated") or {}
    if not ended.get("exitCode"):
        return ""
    said = f": {ended['message']}" if ended.get("message") else ""
    return f"{status['name']} ended with exit code {ended['exitCode']} ({ended.get('reason', '')}){said}"


def _reason_and_message(item: Object) -> tuple[str, str]:
    return item.get("reason") or "", item.get("message") or ""


@dataclass(frozen=True)
class PodVerdict:
    """The reason that an attempt ended, when its worker's own word is not all there is.

    failed  whether another attempt would fail as well
    """

    cause: Cause
    message: str
    failed: bool = False

    @property
    def lost_machine(self) -> bool:
        """True if the machine went away, or was not what it had been."""
        return self.cause in ("preempted", "evicted", "rejected")

    @property
    def blames_node(self) -> bool:
        """True if the node could not run the pod, and may be able to soon."""
        return self.cause in ("rejected", "start") and not self.failed


def judge(job: JobState | None, pod: PodState | None, word: str = "") -> PodVerdict:
    """Find why an attempt ended whose pod has ended or was deleted; `word` is its worker's own account.

    >>> judge(job, replace(pod, phase="Failed", exit_code=137, exit_reason="OOMKilled")).cause
    'memory'
    >>> judge(None, None).message
    'its job was deleted from the cluster, not by this run'
    """
    if job and job.reason == "DeadlineExceeded":
        return PodVerdict(
            "deadline", "the attempt exceeded its time limit (max-hours in the deployment file)"
        )
    if job is None and (pod is None or pod.deleting):
        return PodVerdict("gone", "its job was deleted from the cluster, not by this run")
    if pod:
        return _judge_pod(pod, word)
    assert job is not None
    if job.ended == "Complete":
        return _nothing_stored(job.name)
    said = f" ({job.message})" if job.message else ""
    return PodVerdict("preempted", f"its pod does not exist any more: deleted, or lost with its node{said}")


def cannot_start(pod: PodState) -> PodVerdict | None:
    """Explain what keeps a pod's container from starting, unless that passes; None for nothing."""
    reason, message = pod.waiting or ("", "")
    if reason in _PULL:
        failed = not _MAY_PASS.search(message)
        return PodVerdict("image", f"the image cannot be pulled: {reason}: {message}", failed)
    if reason in _CREATE:
        failed = reason == _CONFIG or bool(_NO_PROGRAM.search(message))
        return PodVerdict("start", f"the pod cannot start: {reason}: {message}", failed)
    return None


def never_started(pod: PodState | None, minutes: float, events: Sequence[str]) -> PodVerdict:
    """Explain that no machine has run a pod after so many minutes."""
    said = "; ".join(events[-3:]) or "the cluster gives no reason"
    if pod and pod.unscheduled:
        why = f"no machine can take the pod: {pod.unscheduled}"
    elif pod and pod.node:
        why = f"the pod did not start on {pod.node}: {said}"
    else:
        why = f"the cluster made no pod: {said}"
    return PodVerdict("start", f"after {minutes:g} minutes (pending-minutes in the deployment file) {why}")


def _judge_pod(pod: PodState, word: str) -> PodVerdict:
    where = f" on {pod.node}" if pod.node else ""
    if found := _judge_reason(pod, where):
        return found
    told = pod.deleting or TOLD_TO_END in word  # old clusters give no reason with a pod
    if pod.exit_code == _TERMINATED or (told and pod.exit_code in (None, os.EX_TEMPFAIL, _KILLED)):
        return PodVerdict("preempted", f"the pod got SIGTERM{where}: its machine was taken away")
    if pod.exit_code == _KILLED or _OUT_OF_MEMORY in word:
        return PodVerdict(
            "memory", f"killed{where}, most likely because it was out of memory (exit code {pod.exit_code})"
        )
    if pod.exit_code == 0:
        return _nothing_stored(pod.name)
    if pod.exit_code == os.EX_TEMPFAIL:
        return PodVerdict("ended", f"the worker asks for another attempt (exit code 75){where}")
    if pod.exit_code is None and pod.init_failure:
        return PodVerdict("start", f"the worker could not start{where}: {pod.init_failure}")
    if pod.exit_code is None:
        said = ": ".join(filter(None, (pod.reason, pod.message)))
        return PodVerdict("preempted", f"the pod disappeared{where}{': ' + said if said else ''}")
    return PodVerdict("script", f"the worker ended with exit code {pod.exit_code}{where}", failed=True)


def _judge_reason(pod: PodState, where: str) -> PodVerdict | None:
    """Interpret the cluster's reasons; None where none of them says more than the exit code."""
    disruption, why = pod.disruption or ("", "")
    for reason, message, other in (
        (pod.reason, pod.message, None),
        (disruption, why, _TAKEN_AWAY if disruption else None),
        (pod.exit_reason, pod.last_words, None),
    ):
        if known := _REASONS.get("OutOf" if reason.startswith("OutOf") else reason, other):
            said = known.said or message or reason
            failed = known.cause == "start" and bool(_NO_PROGRAM.search(said))
            return PodVerdict(known.cause, f"{known.words}{where}: {said}", failed)
    return None


def _nothing_stored(name: str) -> PodVerdict:
    return PodVerdict("ended", f"{name} succeeded, but the store has no result of the step")
