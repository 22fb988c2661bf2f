"""Jobs and pods as the cluster would show them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from translations_assets.runners.batch.member import Member
from translations_assets.runners.kubernetes.state import JobState, PodState

JOB = JobState(
    name="translations-1",
    uid="job-1",
    labels={},
    members=(Member("ab", 1, 1, "train-en"),),
    spec="",
    image="registry.example/worker:1",
    preemptions=0,
    deleting=False,
    suspended=False,
    ended="",
    reason="",
    message="",
)
POD = PodState(
    name="translations-1-x",
    uid="pod-1",
    job="translations-1",
    created="2026-01-31T12:00:00Z",
    node="gpu-1",
    deleting=False,
    grace=60.0,
    phase="Running",
    reason="",
    message="",
    disruption=None,
    unscheduled="",
    waiting=None,
    init_failure="",
    started=True,
    company=(),
    exit_code=None,
    exit_reason="",
    last_words="",
)
FAILED = replace(JOB, ended="Failed", reason="BackoffLimitExceeded", message="Job has reached the limit")


def ended(code: int, **changes: Any) -> PodState:
    """A pod whose worker has ended."""
    return replace(POD, phase="Failed" if code else "Succeeded", exit_code=code, **changes)
