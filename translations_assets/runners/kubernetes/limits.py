"""At most so many jobs at once, of all classes and of each; whoever waits longest comes first."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from translations_assets.config.deployment import WorkerClassName
from translations_assets.runners.kubernetes.state import WORKER_CLASS, JobState

_LOOK_SECONDS = 1.0


@dataclass(eq=False)
class Slot:
    """A place for one job; `name` is that of the job that takes it."""

    worker_class: WorkerClassName
    name: str = ""
    free: threading.Event = field(default_factory=threading.Event)


class Limits:
    """The slots of the namespace, as this process sees them: jobs of other orchestrators count, too.

    Two orchestrators that create jobs in the same moment may together exceed a limit by a few; a quota of the
    namespace does not.

    total     jobs at once
    of_class  jobs at once of a worker class, where that has a limit of its own
    jobs      the cluster's jobs
    """

    def __init__(
        self, total: int, of_class: Mapping[WorkerClassName, int], jobs: Callable[[], list[JobState]]
    ) -> None:
        self._total, self._of_class, self._jobs = total, of_class, jobs
        self._lock = threading.Lock()
        self._held: list[Slot] = []
        self._queue: list[Slot] = []

    def take(self, worker_class: WorkerClassName, given_up: Callable[[], bool]) -> Slot | None:
        """Wait for a slot; None when it was given up before."""
        slot = Slot(worker_class)
        with self._lock:
            self._queue.append(slot)
        self.changed()
        while not slot.free.wait(_LOOK_SECONDS):
            if given_up():
                self.release(slot)
                return None
        return slot

    def release(self, slot: Slot) -> None:
        """Give a slot back, or leave the queue."""
        with self._lock:
            for slots in (self._held, self._queue):
                if slot in slots:
                    slots.remove(slot)
        self.changed()

    def changed(self) -> None:
        """Give free slots to those who wait; called when jobs have changed."""
        with self._lock:
            if not self._queue:
                return
            used = self._used()
            for slot in list(self._queue):
                if used.total() >= self._total:
                    return
                if used[slot.worker_class] < self._of_class.get(slot.worker_class, self._total):
                    used[slot.worker_class] += 1
                    self._queue.remove(slot)
                    self._held.append(slot)
                    slot.free.set()

    def _used(self) -> Counter[str]:
        """Slots by worker class: those that we hold, and live jobs that hold none of them."""
        ours = {slot.name for slot in self._held}
        others = (job for job in self._jobs() if job.live and job.name not in ours)
        return Counter(
            [slot.worker_class for slot in self._held] + [job.labels.get(WORKER_CLASS, "") for job in others]
        )
