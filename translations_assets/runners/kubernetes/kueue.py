"""Kueue, which holds Jobs back until their queue has room, and takes the room back for others: in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from translations_assets.runners.kubernetes.state import JobState, Object, PodVerdict

GROUP = "kueue.x-k8s.io"  # of its API
QUEUE = f"{GROUP}/queue-name"  # a Job's label


def suspended_for(job: JobState, workload: Object | None, events: Sequence[str]) -> str:
    """Explain why a Job is held back, by Kueue's object for it, else by the Job's events.

    >>> suspended_for(job, None, ["Suspended: Job suspended"])
    'its Job is suspended, until somebody resumes it; the cluster says: Suspended: Job suspended'
    """
    if workload:
        conditions = _conditions(workload)
        open_ones = (conditions.get(name, {}) for name in ("QuotaReserved", "Admitted"))
        said = next((item.get("message", "") for item in open_ones if item.get("status") == "False"), "")
        queue = workload.get("spec", {}).get("queueName", "")
        return f"Kueue holds its Job in the queue {queue}: {said or 'it does not say why'}"
    said = f"; the cluster says: {events[-1]}" if events else ""
    if queue := job.labels.get(QUEUE, ""):
        return (
            f"its Job is suspended for the queue {queue}, and Kueue shows no Workload for it: Kueue is not "
            f"installed, does not look after this namespace, or the runner may not list Workloads{said}"
        )
    return f"its Job is suspended, until somebody resumes it{said}"


def taken_back(workload: Object | None) -> PodVerdict:
    """Explain that a Job was suspended after its pod was made, as Kueue does to make room."""
    for name in ("Preempted", "Evicted"):
        condition = _conditions(workload or {}).get(name, {})
        if condition.get("status") == "True":
            said = condition.get("message") or condition.get("reason") or "it does not say why"
            return PodVerdict("queued", f"Kueue took the room of its Job back: {said}")
    return PodVerdict("queued", "its Job was suspended while it ran, by a queue or by a person")


def _conditions(workload: Object) -> Mapping[str, Mapping[str, Any]]:
    return {item["type"]: item for item in (workload.get("status") or {}).get("conditions") or ()}
