"""What all jobs of a runner share."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from translations_assets.config.deployment import UNSAVED_MINUTES, Kubernetes
from translations_assets.runners.kubernetes.cluster import Cluster
from translations_assets.runners.kubernetes.jobs import Descriptions, store_label
from translations_assets.runners.kubernetes.limits import Limits
from translations_assets.runners.kubernetes.state import STORE, JobState
from translations_assets.runners.kubernetes.sweep import Sweep
from translations_assets.runners.kubernetes.verdict import judge
from translations_assets.runners.kubernetes.watch import Watch


@dataclass(frozen=True)
class Tools:
    """A connected cluster and what is asked of it.

    sink  takes the lines of the scripts' logs: label of the step, line
    unsaved_minutes  as in `Deployment`
    """

    kubernetes: Kubernetes
    cluster: Cluster
    watch: Watch
    limits: Limits
    descriptions: Descriptions
    sweep: Sweep
    sink: Callable[[str, bytes], None]
    unsaved_minutes: float = UNSAVED_MINUTES
    _preemptions: Counter[tuple[str, int]] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def close(self) -> None:
        """Watch the cluster no more."""
        self.watch.close()
        self.sweep.close()

    def count_preemption(self, step: tuple[str, int], before: int) -> None:
        """Note that an attempt of a step lost its machine, after so many before."""
        with self._lock:
            self._preemptions[step] = max(self._preemptions[step], before + 1)

    def jobs_of(self, store: str, step: tuple[str, int]) -> list[JobState]:
        """The cluster's Jobs that make a step, or have tried to."""
        label = store_label(store)
        return [
            job
            for job in self.watch.jobs()
            if job.labels.get(STORE) == label and any(member.step == step for member in job.members)
        ]

    def preemptions(self, store: str, step: tuple[str, int]) -> int:
        """How many attempts of a step lost their machine: as we saw, and as Jobs that failed still tell."""
        with self._lock:
            count = self._preemptions[step]
        for job in self.jobs_of(store, step):
            if job.ended:
                pod = next(reversed(self.watch.pods(job.name)), None)
                count = max(count, job.preemptions + judge(job, pod).lost_machine)
        return count
