"""How many batch jobs may go on at once, in all and of a worker class."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from translations_assets.config.deployment import WorkerClassName


class Counted(Protocol):
    """A batch job, as far as limits count it.

    live  whether it runs, or will
    """

    @property
    def name(self) -> str: ...

    @property
    def live(self) -> bool: ...

    @property
    def worker_class(self) -> str: ...


@dataclass(eq=False)
class Slot:
    """A place for one job.

    given    called when it is free
    is_free  whether it may be used
    name     of the job that takes it
    """

    worker_class: WorkerClassName
    given: Callable[[], None]
    is_free: bool = False
    name: str = ""


class Limits:
    """The slots for jobs, as this process sees them: jobs of other orchestrators count, too.

    Two orchestrators that create jobs in the same moment may together exceed a limit by a few; a quota of the
    cluster does not.

    total     jobs at once
    of_class  jobs at once of a worker class, where that has a limit of its own
    jobs      all that are known
    """

    def __init__(
        self, total: int, of_class: Mapping[WorkerClassName, int], jobs: Callable[[], Iterable[Counted]]
    ) -> None:
        self._total, self._of_class, self._jobs = total, of_class, jobs
        self._lock = threading.Lock()
        self._held: list[Slot] = []
        self._queue: list[Slot] = []

    def queue(self, worker_class: WorkerClassName, given: Callable[[], None]) -> Slot:
        """Queue for a slot, until it is released."""
        slot = Slot(worker_class, given)
        with self._lock:
            self._queue.append(slot)
        self.changed()
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
                    slot.is_free = True
                    slot.given()

    def _used(self) -> Counter[str]:
        """Slots by worker class: those that are held here, and live jobs that hold none of them."""
        held = {slot.name for slot in self._held}
        others = (job for job in self._jobs() if job.live and job.name not in held)
        used = Counter[str](slot.worker_class for slot in self._held)
        used.update(job.worker_class for job in others)
        return used
