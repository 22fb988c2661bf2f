"""What became of an attempt, from what the cluster says of its job and pod; told to people."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from translations_assets.runners.kubernetes.state import JobState, PodState
from translations_assets.runners.pod.wire import EX_TEMPFAIL

Cause = Literal["ended", "script", "preempted", "evicted", "memory", "image", "start", "deadline", "gone"]
_KILLED = 128 + signal.SIGKILL
_TERMINATED = 128 + signal.SIGTERM
# Why a container cannot start; some pass with the kubelet's next try
_PULL = {
    "ErrImagePull",
    "ImagePullBackOff",
    "RegistryUnavailable",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
}
_CREATE = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
# Reasons in a pod's status when its node is shut down
_SHUT_DOWN = {"NodeShutdown", "Shutdown", "Terminated", "NodeLost", "NodeAffinity", "Preempting", "Preempted"}
TOLD_TO_END = "SIGTERM"  # stands in the word of a worker whose pod was told to end
_OUT_OF_MEMORY = "ran out of memory"  # in that of one whose script alone was killed
_EVICTIONS = {"TerminationByKubelet", "EvictionByEvictionAPI"}


@dataclass(frozen=True)
class Verdict:
    """Why an attempt ended, when its worker's own word is not all there is.

    failed  whether another attempt would fail as well
    """

    cause: Cause
    message: str
    failed: bool = False

    @property
    def lost_machine(self) -> bool:
        """Whether it was the machine that went away."""
        return self.cause in ("preempted", "evicted")


def judge(job: JobState | None, pod: PodState | None, word: str = "") -> Verdict:
    """Why an attempt ended whose pod has ended or is gone; `word` is what its worker said of that."""
    if job and job.reason == "DeadlineExceeded":
        return Verdict("deadline", "the attempt took longer than it may (max-hours in the deployment file)")
    if job is None and (pod is None or pod.deleting):
        return Verdict("gone", "its job was deleted from the cluster, not by this run")
    if pod:
        return _judge_pod(pod, word)
    assert job is not None
    if job.ended == "Complete":
        return _nothing_stored(job.name)
    said = f" ({job.message})" if job.message else ""
    return Verdict("preempted", f"its pod is gone, with its node or deleted by somebody{said}")


def cannot_start(pod: PodState) -> Verdict | None:
    """What keeps a pod's container from starting, unless that passes; None for nothing."""
    reason, message = pod.waiting or ("", "")
    if reason in _PULL:
        return Verdict("image", f"the image cannot be pulled: {reason}: {message}", failed=True)
    if reason in _CREATE:
        return Verdict("start", f"the pod cannot start: {reason}: {message}", failed=True)
    return None


def never_started(pod: PodState | None, minutes: float, events: Sequence[str]) -> Verdict:
    """What it means that no machine has run a pod after so many minutes."""
    said = "; ".join(events[-3:]) or "the cluster does not say why"
    if pod and pod.unscheduled:
        why = f"no machine can take the pod: {pod.unscheduled}"
    elif pod and pod.node:
        why = f"the pod did not start on {pod.node}: {said}"
    else:
        why = f"the cluster made no pod: {said}"
    return Verdict("start", f"after {minutes:g} minutes (pending-minutes in the deployment file) {why}")


def _judge_pod(pod: PodState, word: str) -> Verdict:
    reason, said = pod.disruption or (pod.reason, pod.message)
    where = f" on {pod.node}" if pod.node else ""
    if pod.reason == "Evicted" or reason in _EVICTIONS:
        return Verdict("evicted", f"the pod was evicted{where}: {pod.message or said or reason}")
    if pod.disruption or pod.reason in _SHUT_DOWN:
        return Verdict("preempted", f"the machine was taken away{where}: {said or reason}")
    if pod.exit_reason == "OOMKilled":
        return Verdict("memory", f"out of memory{where}: the pod used more than its limit")
    told = pod.deleting or TOLD_TO_END in word  # old clusters give no reason with a pod
    if pod.exit_code == _TERMINATED or (told and pod.exit_code in (None, EX_TEMPFAIL, _KILLED)):
        return Verdict("preempted", f"the pod was told to end (SIGTERM){where}: its machine was taken away")
    if pod.exit_code == _KILLED or _OUT_OF_MEMORY in word:
        return Verdict(
            "memory", f"killed{where}, most likely because it was out of memory (exit code {pod.exit_code})"
        )
    if pod.exit_code == 0:
        return _nothing_stored(pod.name)
    if pod.exit_code == EX_TEMPFAIL:
        return Verdict("ended", f"the worker asks for another attempt (exit code 75){where}")
    if pod.exit_code is None:
        return Verdict("preempted", f"the pod went away{where}{': ' + said if said else ''}")
    return Verdict("script", f"the worker ended with exit code {pod.exit_code}{where}", failed=True)


def _nothing_stored(name: str) -> Verdict:
    return Verdict("ended", f"{name} ended well, but the store holds no result of the step")
