"""What the cluster's words about a pod mean."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.runners.kubernetes.states import FAILED, JOB, POD, ended
from translations_assets.runners.kubernetes.state import (
    JobState,
    PodState,
    Verdict,
    cannot_start,
    judge,
    never_started,
)

EVICTED = replace(POD, phase="Failed", reason="Evicted", message="The node was low on resource: memory.")
SHUT_DOWN = ended(
    143, reason="Terminated", message="Pod was terminated in response to imminent node shutdown."
)


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
        (FAILED, SHUT_DOWN, "preempted", "imminent node shutdown"),
        (FAILED, ended(143), "preempted", "SIGTERM"),
        (FAILED, ended(75, deleting=True), "preempted", "SIGTERM"),
        (FAILED, ended(137, deleting=True), "preempted", "SIGTERM"),
        (FAILED, ended(137, exit_reason="OOMKilled"), "memory", "more than its limit"),
        (FAILED, ended(137), "memory", "most likely because it was out of memory (exit code 137)"),
        (FAILED, None, "preempted", "its pod does not exist any more"),
        (None, None, "gone", "was deleted"),
        (None, ended(75, deleting=True), "gone", "was deleted"),
        (replace(JOB, ended="Complete"), ended(0), "ended", "the store holds no result"),
        (replace(JOB, ended="Complete"), None, "ended", "the store holds no result"),
        (replace(FAILED, reason="DeadlineExceeded"), ended(75, deleting=True), "deadline", "max-hours"),
    ],
)
def test_each_end_has_its_cause(job: JobState | None, pod: PodState | None, cause: str, said: str) -> None:
    verdict = judge(job, pod)
    assert verdict.cause == cause
    assert said in verdict.message
    assert verdict.failed == (cause == "script")
    assert verdict.lost_machine == (cause in ("preempted", "evicted"))


def test_the_worker_tells_what_old_clusters_do_not() -> None:
    assert judge(FAILED, ended(75), "ended before it was done: SIGTERM from outside").cause == "preempted"
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
    assert verdict == Verdict("start", verdict.message)
