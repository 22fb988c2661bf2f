"""Tests of the meaning of the cluster's words about a pod."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.runners.kubernetes.states import FAILED, JOB, POD, ended
from translations_assets.runners.kubernetes.state import (
    JobState,
    PodState,
    PodVerdict,
    cannot_start,
    judge,
    never_started,
)

EVICTED = replace(POD, phase="Failed", reason="Evicted", message="The node was low on resource: memory.")
SHUT_DOWN = ended(
    143, reason="Terminated", message="Pod was terminated in response to imminent node shutdown."
)
NO_GPU = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create "
    "failed: unable to start container process: error during container init: nvidia-container-cli: "
    "initialization error: driver not loaded"
)
NO_PROGRAM = (
    "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create "
    'failed: unable to start container process: exec: "python": executable file not found in $PATH'
)
LOST = "The container could not be located when the pod was terminated"


def rejected(reason: str, message: str) -> PodState:
    """A pod that its kubelet does not run."""
    return replace(POD, phase="Failed", started=False, reason=reason, message=f"Pod was rejected: {message}")


@pytest.mark.parametrize(
    ("job", "pod", "cause", "said"),
    [
        (FAILED, ended(1), "script", "exit code 1 on gpu-1"),
        (FAILED, ended(75), "ended", "asks for another attempt"),
        (FAILED, EVICTED, "evicted", "low on resource: memory"),
        (FAILED, ended(137, disruption=("TerminationByKubelet", "full")), "evicted", "full"),
        (FAILED, ended(75, disruption=("EvictionByEvictionAPI", "drained")), "evicted", "drained"),
        (FAILED, ended(75, disruption=("PreemptionByScheduler", "a pod came")), "preempted", "a pod came"),
        (FAILED, ended(137, disruption=("DeletionByTaintManager", "")), "preempted", "DeletionByTaint"),
        (FAILED, ended(75, disruption=("OfAnotherKind", "new")), "preempted", "new"),
        (FAILED, SHUT_DOWN, "preempted", "imminent node shutdown"),
        (FAILED, replace(SHUT_DOWN, disruption=("TerminationByKubelet", "")), "preempted", "imminent node"),
        (FAILED, rejected("NodeShutdown", "the node is shutting down"), "preempted", "is shutting down"),
        (FAILED, replace(POD, reason="NodeLost", message="unresponsive"), "preempted", "unresponsive"),
        (FAILED, rejected("Preempting", "for a critical pod"), "preempted", "critical pod"),
        (FAILED, rejected("OutOfnvidia.com/gpu", "has 0 free"), "rejected", "gpu-1: Pod was rejected: has 0"),
        (FAILED, rejected("OutOfmemory", "has too little"), "rejected", "too little"),
        (FAILED, rejected("OutOfpods", "has too many"), "rejected", "too many"),
        (FAILED, rejected("UnexpectedAdmissionError", "Allocate failed"), "rejected", "Allocate failed"),
        (FAILED, rejected("NodeAffinity", "labels differ"), "rejected", "labels differ"),
        (FAILED, rejected("AnotherReason", "who knows"), "preempted", "AnotherReason: Pod was rejected: who"),
        (FAILED, replace(POD, reason="DeadlineExceeded", message="too long"), "deadline", "too long"),
        (FAILED, ended(128, exit_reason="StartError", last_words=NO_GPU), "start", "driver not loaded"),
        (FAILED, ended(127, exit_reason="ContainerCannotRun", last_words=NO_GPU), "start", "not loaded"),
        (FAILED, ended(137, exit_reason="ContainerStatusUnknown", last_words=LOST), "preempted", LOST),
        (FAILED, replace(POD, phase="Failed", init_failure="init exit code 2"), "start", "exit code 2"),
        (FAILED, ended(143), "preempted", "SIGTERM"),
        (FAILED, ended(75, deleting=True), "preempted", "SIGTERM"),
        (FAILED, ended(137, deleting=True), "preempted", "SIGTERM"),
        (FAILED, ended(137, exit_reason="OOMKilled"), "memory", "more than its limit"),
        (FAILED, ended(137), "memory", "most likely because it was out of memory (exit code 137)"),
        (FAILED, None, "preempted", "its pod does not exist any more"),
        (None, None, "gone", "was deleted"),
        (None, ended(75, deleting=True), "gone", "was deleted"),
        (replace(JOB, ended="Complete"), ended(0), "ended", "the store has no result"),
        (replace(JOB, ended="Complete"), None, "ended", "the store has no result"),
        (replace(FAILED, reason="DeadlineExceeded"), ended(75, deleting=True), "deadline", "max-hours"),
    ],
)
def test_each_end_has_its_cause(job: JobState | None, pod: PodState | None, cause: str, said: str) -> None:
    verdict = judge(job, pod)
    assert verdict.cause == cause
    assert said in verdict.message
    assert verdict.failed == (cause == "script")
    assert verdict.lost_machine == (cause in ("preempted", "evicted", "rejected"))
    assert verdict.blames_node == (cause in ("rejected", "start"))


@pytest.mark.parametrize(
    "said",
    [
        NO_PROGRAM,
        'OCI runtime create failed: exec: "/bin/run": stat /bin/run: no such file or directory: unknown',
        'unable to start container process: exec: "/run.sh": permission denied',
        "exec /usr/bin/python: exec format error",
    ],
)
def test_an_image_that_lacks_the_program_lacks_it_on_every_node(said: str) -> None:
    assert judge(FAILED, ended(128, exit_reason="StartError", last_words=said)).failed
    found = cannot_start(replace(POD, waiting=("RunContainerError", said), started=False))
    assert found
    assert found.failed


@pytest.mark.parametrize(
    ("said", "failed"),
    [
        (
            'failed to do request: Head "https://registry.example/": dial tcp 192.0.2.1:443: i/o timeout',
            False,
        ),
        ("unexpected status from HEAD request to https://registry.example: 503 Service Unavailable", False),
        ("toomanyrequests: You have reached your pull rate limit", False),
        ("pull QPS exceeded", False),
        ("registry.example/worker:1: not found", True),
        ("dial tcp: lookup registry.exmaple: no such host", True),
        ("failed to authorize: 403 Forbidden", True),
    ],
)
def test_a_registry_that_fails_is_not_one_without_the_image(said: str, failed: bool) -> None:
    found = cannot_start(replace(POD, waiting=("ErrImagePull", said), started=False))
    assert found
    assert (found.cause, found.failed) == ("image", failed)


def test_what_a_node_cannot_create_another_one_may() -> None:
    found = cannot_start(replace(POD, waiting=("CreateContainerError", "deadline exceeded"), started=False))
    assert found == PodVerdict("start", "the pod cannot start: CreateContainerError: deadline exceeded")


def shown(before: dict[str, Any], worker: dict[str, Any]) -> PodState:
    """A pod with a container that runs before the worker, by the states of the two."""
    return PodState.of(
        {
            "metadata": {"name": "a", "uid": "1"},
            "status": {
                "phase": "Pending",
                "initContainerStatuses": [{"name": "a-proxy", "state": before}],
                "containerStatuses": [{"name": "worker", "state": worker}],
            },
        }
    )


@pytest.mark.parametrize("meanwhile", ["PodInitializing", "ContainerCreating"])
def test_what_comes_before_the_worker_is_what_keeps_it_from_starting(meanwhile: str) -> None:
    missing = {"waiting": {"reason": "ImagePullBackOff", "message": "no proxy:1"}}
    verdict = cannot_start(shown(missing, {"waiting": {"reason": meanwhile}}))
    assert verdict
    assert (verdict.cause, verdict.message) == (
        "image",
        "the image cannot be pulled: ImagePullBackOff: no proxy:1",
    )
    assert shown({"running": {}}, {"waiting": {"reason": meanwhile}}).waiting is None


def test_an_init_container_that_fails_is_told() -> None:
    ended = {"terminated": {"exitCode": 3, "reason": "Error", "message": "no route"}}
    pod = shown(ended, {"waiting": {"reason": "PodInitializing"}})
    assert pod.init_failure == "a-proxy ended with exit code 3 (Error): no route"
    well = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    assert shown(well, {"running": {}}).init_failure == ""


def test_the_worker_tells_what_old_clusters_do_not() -> None:
    assert judge(FAILED, ended(75), "stopped before its end: SIGTERM from outside").cause == "preempted"
    word = "killed by SIGKILL, not by its worker; perhaps the machine ran out of memory"
    assert judge(FAILED, ended(75), word).cause == "memory"


@pytest.mark.parametrize(
    ("waiting", "cause"),
    [
        (("ImagePullBackOff", "Back-off pulling image"), "image"),
        (("InvalidImageName", "bad"), "image"),
        (("CreateContainerConfigError", 'secret "wandb" not found'), "start"),
        (("ContainerCreating", ""), ""),
        (None, ""),
    ],
)
def test_what_keeps_a_container_from_starting(waiting: tuple[str, str] | None, cause: str) -> None:
    verdict = cannot_start(replace(POD, waiting=waiting, started=False))
    assert (verdict.cause if verdict else "") == cause
    if verdict and waiting:
        assert verdict.failed
        assert waiting[1] in verdict.message


@pytest.mark.parametrize(
    ("pod", "said"),
    [
        (replace(POD, node="", unscheduled="0/5 nodes: 5 Insufficient nvidia.com/gpu."), "5 Insufficient"),
        (replace(POD, started=False), "did not start on gpu-1: FailedMount: no disk"),
        (None, "made no pod: FailedMount: no disk"),
    ],
)
def test_a_pod_that_never_started_says_what_is_missing(pod: PodState | None, said: str) -> None:
    verdict = never_started(pod, 60, ["FailedMount: no disk"])
    assert said in verdict.message
    assert "60 minutes" in verdict.message
    assert verdict == PodVerdict("start", verdict.message)
