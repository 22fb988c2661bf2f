"""Ends Jobs that nobody waits for: their orchestrators died, and no other has come for them."""

from __future__ import annotations

import logging

from translations_assets.background import CLOCK, Clock, Repeating
from translations_assets.runners.kubernetes.cluster import Cluster
from translations_assets.runners.kubernetes.jobs import store_label
from translations_assets.runners.kubernetes.state import STORE, JobState
from translations_assets.runners.kubernetes.watch import Watch
from translations_assets.running.protocols import Store

_LOOKS = 5  # in the time after which a Job is an orphan
_LONGEST_PAUSE = 60.0

_log = logging.getLogger(__name__)


class Sweep:
    """Looks, while a run goes on, for live Jobs of a store that no run has waited for during some minutes.

    Not earlier: a run that takes the place of a dead one needs a while until it comes to each of its steps.
    """

    def __init__(
        self, cluster: Cluster, watch: Watch, store: Store, minutes: float, clock: Clock = CLOCK
    ) -> None:
        self._cluster, self._watch, self._store, self._clock = cluster, watch, store, clock
        self._seconds = minutes * 60
        self._unwanted_since: dict[str, float] = {}
        pause = min(self._seconds / _LOOKS, _LONGEST_PAUSE)
        repeating = Repeating("sweep", self.look, pause, self._failed, clock=clock)
        self.start, self.close = repeating.start, repeating.stop

    def look(self) -> None:
        """Note the Jobs that nobody waits for now, and delete those that were found so for long enough."""
        label = store_label(self._store.url)
        unwanted = [job for job in self._watch.jobs() if job.live and job.labels.get(STORE) == label]
        unwanted = [job for job in unwanted if not self._is_wanted(job)]
        now = self._clock.monotonic()
        self._unwanted_since = {job.uid: self._unwanted_since.get(job.uid, now) for job in unwanted}
        for job in unwanted:
            if now - self._unwanted_since[job.uid] >= self._seconds:
                labels = ", ".join(member.label for member in job.members)
                _log.warning("The job %s is deleted: no run waits for it any more (%s).", job.name, labels)
                self._cluster.delete_job(job)

    def _is_wanted(self, job: JobState) -> bool:
        return any(self._store.waiters(member.key, member.generation) for member in job.members)

    def _failed(self, error: str) -> None:
        _log.warning("Jobs that no run waits for cannot be looked for: %s", error)
