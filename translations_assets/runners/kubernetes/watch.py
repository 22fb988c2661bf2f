"""What the cluster's jobs and pods are now: one watch on each for the whole process."""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Generic, TypeVar

from translations_assets.background import Repeating
from translations_assets.runners.kubernetes.cluster import (
    AWAY_SECONDS,
    Cluster,
    ClusterAway,
    Expired,
    Kind,
)
from translations_assets.runners.kubernetes.state import JobState, Object, PodState

_FIRST_PAUSE, _LAST_PAUSE = 0.5, 5.0

_log = logging.getLogger(__name__)

S = TypeVar("S", bound="JobState | PodState")


class Watch:
    """The cluster's jobs and pods, as last heard. Lists once, then only hears of changes."""

    def __init__(self, cluster: Cluster) -> None:
        self._listeners: dict[str, list[Callable[[], None]]] = defaultdict(list)
        self._lock = threading.Lock()
        self._jobs = _Mirror(cluster, "jobs", JobState.of, lambda job: self._tell(job.name))
        self._pods = _Mirror(cluster, "pods", PodState.of, lambda pod: self._tell(pod.job))

    def start(self) -> None:
        """List, and begin to watch. Raises ClusterError when the cluster cannot be listed, after a while."""
        self._jobs.start()
        self._pods.start()

    def close(self) -> None:
        """Watch no more; the threads end by themselves within a minute."""
        self._jobs.closed = self._pods.closed = True

    @property
    def silent(self) -> float:
        """Seconds since the cluster was last heard of; one where nothing happens is heard each minute."""
        return time.monotonic() - min(self._jobs.heard, self._pods.heard)

    def jobs(self) -> list[JobState]:
        """All jobs."""
        return self._jobs.all()

    def job(self, name: str) -> JobState | None:
        """A job by name."""
        return self._jobs.states.get(name)

    def pods(self, job: str) -> list[PodState]:
        """The pods of a job, oldest first."""
        pods = [pod for pod in self._pods.all() if pod.job == job]
        return sorted(pods, key=lambda pod: (pod.created, pod.name))

    def listen(self, job: str, call: Callable[[], None]) -> None:
        """Have a function called, by the watching thread, when a job or a pod of it changes; `""` for any."""
        with self._lock:
            self._listeners[job].append(call)

    def leave(self, job: str, call: Callable[[], None]) -> None:
        """Call the function no more."""
        with self._lock:
            self._listeners[job].remove(call)
            if not self._listeners[job]:
                del self._listeners[job]

    def _tell(self, job: str) -> None:
        with self._lock:
            calls = [*self._listeners.get(job, ()), *self._listeners.get("", ())]
        for call in calls:
            call()


class _Mirror(Generic[S]):
    """All objects of one kind, by name, kept up to date by a thread."""

    def __init__(
        self, cluster: Cluster, kind: Kind, parse: Callable[[Object], S], changed: Callable[[S], None]
    ) -> None:
        self._cluster, self._kind, self._parse, self._changed = cluster, kind, parse, changed
        self._version = ""
        self.states: dict[str, S] = {}
        self.heard = time.monotonic()
        self.closed = False
        self._repeating = Repeating(
            f"watch-{kind}",
            self._round,
            _FIRST_PAUSE,
            lambda error: _log.warning("The watch on %s was interrupted: %s", kind, error),
            needed=lambda: not self.closed,
            longest=_LAST_PAUSE,
        )

    def start(self) -> None:
        self._list()
        self._repeating.wake()
        self._repeating.start()

    def all(self) -> list[S]:
        return list(self.states.values())

    def _round(self) -> None:
        """Watch until the server ends that; the next watch follows at once."""
        try:
            if not self._version:
                self._list(patience=0)
            self._watch()
        except ClusterAway:
            raise
        except Expired:
            self._version = ""
        except Exception:  # the server may have lost its memory, or sent an object that cannot be read
            self._version = ""
            raise
        self._repeating.wake()

    def _list(self, patience: float = AWAY_SECONDS) -> None:
        """Take over all objects as they are, and tell of every difference."""
        objects, version = self._cluster.all(self._kind, patience)
        before = self.states
        self.states = {state.name: state for state in map(self._parse, objects)}
        self._version, self.heard = version, time.monotonic()
        for name, state in {**before, **self.states}.items():
            if before.get(name) != self.states.get(name):
                self._changed(state)

    def _watch(self) -> None:
        for event, value in self._cluster.watch(self._kind, self._version):
            if self.closed:
                return
            self.heard = time.monotonic()
            self._version = value["metadata"]["resourceVersion"]
            if event != "BOOKMARK":
                self._take(event, self._parse(value))
        self.heard = time.monotonic()

    def _take(self, event: str, state: S) -> None:
        if event == "DELETED":
            self.states.pop(state.name, None)
        else:
            self.states[state.name] = state
        self._changed(state)
