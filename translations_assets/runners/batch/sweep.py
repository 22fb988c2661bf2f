"""The end of batch jobs that no run waits for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from translations_assets.common.background import CLOCK, Clock, Repeating
from translations_assets.runners.batch.limits import Counted
from translations_assets.runners.batch.member import Member, store_label
from translations_assets.running.protocols import Store

_CHECKS = 5  # in the time after which a job is an orphan
_LONGEST_PAUSE = 60.0  # between two checks
_log = logging.getLogger(__name__)


class Swept(Counted, Protocol):
    """A batch job, as far as the sweep looks at it.

    uid    which no other job ever has
    store  the label of the store that it writes
    """

    @property
    def uid(self) -> str: ...

    @property
    def store(self) -> str: ...

    @property
    def members(self) -> Sequence[Member]: ...


J = TypeVar("J", bound=Swept)


class OrphanSweep(Generic[J]):
    """Looks, while a run goes on, for live jobs of a store that no run has waited for during some minutes.

    Not earlier: a run that takes the place of a dead one needs a while until it comes to each of its steps.
    """

    def __init__(
        self,
        jobs: Callable[[], Sequence[J]],
        delete: Callable[[J], object],
        store: Store,
        minutes: float,
        closed: threading.Event,
        clock: Clock = CLOCK,
    ) -> None:
        self.jobs, self.store = jobs, store_label(store.url)
        self._delete, self._owners, self._clock = delete, store.owners, clock
        self._seconds = minutes * 60
        self._unwanted_since: dict[str, float] = {}
        pause = min(self._seconds / _CHECKS, _LONGEST_PAUSE)
        self.start = Repeating(
            "sweep", self.check, pause, self.failed, needed=lambda: not closed.is_set(), clock=clock
        ).start

    def check(self) -> None:
        """Note the jobs that no run waits for now, and delete those that were found so for long enough."""
        unwanted = [job for job in self.jobs() if job.live and job.store == self.store]
        unwanted = [job for job in unwanted if not self.is_wanted(job)]
        now = self._clock.monotonic()
        self._unwanted_since = {job.uid: self._unwanted_since.get(job.uid, now) for job in unwanted}
        for job in unwanted:
            if now - self._unwanted_since[job.uid] >= self._seconds:
                labels = ", ".join(member.label for member in job.members)
                _log.warning("The job %s is deleted: no run waits for it any more (%s).", job.name, labels)
                self._delete(job)

    def is_wanted(self, job: J) -> bool:
        """True if a run waits for a step of the job."""
        return any(self._owners.waiters(*member.step) for member in job.members)

    def failed(self, error: str) -> None:
        """Note that a round has failed."""
        _log.warning("The search for jobs that no run waits for failed: %s", error)
