"""A connected cluster: its jobs and pods as last seen, its slots, and the end of jobs without a run."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeVar

from translations_assets.common.background import CLOCK, Clock, Repeating
from translations_assets.common.errors import StoreError
from translations_assets.config.deployment import Kubernetes
from translations_assets.runners.batch.limits import Limits
from translations_assets.runners.batch.member import store_label
from translations_assets.runners.batch.sweep import OrphanSweep
from translations_assets.runners.kubernetes.cluster import (
    AWAY_SECONDS,
    Ahead,
    Cluster,
    ClusterAway,
    ClusterError,
    Expired,
    Kind,
    Trouble,
)
from translations_assets.runners.kubernetes.jobs import Descriptions
from translations_assets.runners.kubernetes.state import JobState, Label, Object, PodState, judge
from translations_assets.running.protocols import Store

_FIRST_PAUSE, _LAST_PAUSE = 0.5, 5.0  # of a watch that fails

_log = logging.getLogger(__name__)
S = TypeVar("S", bound="JobState | PodState")


class Watch:
    """The cluster's jobs and pods, as last seen. Lists once, then gets changes only."""

    def __init__(self, cluster: Cluster) -> None:
        self._listeners: dict[str, list[Callable[[], None]]] = defaultdict(list)
        self._lock = threading.Lock()
        self._jobs = _Mirror(cluster, "jobs", JobState.of, _steps_of, lambda job: self._notify(job.name))
        self._pods = _Mirror(
            cluster, "pods", PodState.of, lambda pod: [pod.job], lambda pod: self._notify(pod.job)
        )

    def start(self) -> None:
        """List, and begin to watch. Raises ClusterError when the cluster cannot be listed, after a while."""
        mirrors = self._jobs, self._pods
        for mirror in mirrors:
            mirror.list()
        for mirror in mirrors:
            mirror.start()

    @property
    def silent(self) -> float:
        """Seconds since the last answer of the cluster, which comes now and then where nothing happens."""
        return time.monotonic() - min(self._jobs.heard, self._pods.heard)

    def jobs(self) -> list[JobState]:
        """All jobs."""
        return list(self._jobs.states.values())

    def job(self, name: str) -> JobState | None:
        """A job by name."""
        return self._jobs.states.get(name)

    def pods(self, job: str) -> list[PodState]:
        """The pods of a job, oldest first."""
        return sorted(self._pods.of(job), key=lambda pod: (pod.created, pod.name))

    def jobs_of(self, store: str, step: tuple[str, int]) -> list[JobState]:
        """The jobs that make a step of a store, or have tried to."""
        return self._jobs.of((store_label(store), step))

    def subscribe(self, job: str, call: Callable[[], None]) -> None:
        """Have a function called, by the watching thread, when a job or a pod of it changes; `""` for any."""
        with self._lock:
            self._listeners[job].append(call)

    def unsubscribe(self, job: str, call: Callable[[], None]) -> None:
        """Call the function no more."""
        with self._lock:
            self._listeners[job].remove(call)
            if not self._listeners[job]:
                del self._listeners[job]

    def _notify(self, job: str) -> None:
        with self._lock:
            calls = [*self._listeners.get(job, ()), *self._listeners.get("", ())]
        for call in calls:
            call()


def _steps_of(job: JobState) -> Iterator[tuple[str, tuple[str, int]]]:
    for member in job.members:
        yield job.labels.get(Label.STORE, ""), member.step


class _Mirror(Generic[S]):
    """All objects of one kind, by name, kept up to date by a thread.

    belongs  what an object can be asked for by, besides its name
    """

    def __init__(
        self,
        cluster: Cluster,
        kind: Kind,
        parse: Callable[[Object], S],
        belongs: Callable[[S], Iterable[Hashable]],
        changed: Callable[[S], None],
    ) -> None:
        self._cluster, self._kind, self._parse, self._changed = cluster, kind, parse, changed
        self._belongs = belongs
        self._names: dict[Hashable, set[str]] = defaultdict(set)
        self._guard = threading.Lock()  # of the two
        self._version = ""
        self.states: dict[str, S] = {}
        self.heard = time.monotonic()
        self._repeating = Repeating(
            f"watch-{kind}",
            self._round,
            _FIRST_PAUSE,
            lambda error: _log.warning("The watch on %s was interrupted: %s", kind, error),
            needed=lambda: not cluster.closed.is_set(),
            longest=_LAST_PAUSE,
        )

    def start(self) -> None:
        self._repeating.wake()
        self._repeating.start()

    def of(self, owner: Hashable) -> list[S]:
        """The objects that belong to something."""
        with self._guard:
            return [self.states[name] for name in self._names.get(owner, ())]

    def _put(self, name: str, state: S | None) -> None:
        with self._guard:
            if before := self.states.pop(name, None):
                for owner in self._belongs(before):
                    self._names[owner].discard(name)
                    if not self._names[owner]:
                        del self._names[owner]
            if state:
                self.states[name] = state
                for owner in self._belongs(state):
                    self._names[owner].add(name)

    def _round(self) -> None:
        """Watch until the server ends that; the next watch follows at once."""
        try:
            if not self._version:
                self.list(patience=0)
            self._follow()
        except ClusterAway as error:
            self._version = "" if isinstance(error, Ahead) else self._version
            self._cluster.closed.wait(error.after)
            raise
        except Expired:
            self._version = ""
        except Exception:  # the server may have lost its memory, or sent an object that cannot be read
            self._version = ""
            raise
        self._repeating.wake()

    def list(self, patience: float = AWAY_SECONDS) -> None:
        """Take over all objects as they are, and report every difference."""
        objects, version = self._cluster.all(self._kind, patience)
        before = dict(self.states)
        now = {state.name: state for state in map(self._parse, objects)}
        for name in {**before, **now}:
            self._put(name, now.get(name))
        self._version, self.heard = version, time.monotonic()
        for name, state in {**before, **now}.items():
            if before.get(name) != now.get(name):
                self._changed(state)

    def _follow(self) -> None:
        for event, value in self._cluster.watch(self._kind, self._version):
            if self._cluster.closed.is_set():
                return
            self.heard = time.monotonic()
            self._version = value["metadata"]["resourceVersion"]
            if event == "BOOKMARK":
                continue
            state = self._parse(value)
            self._put(state.name, None if event == "DELETED" else state)
            self._changed(state)
        self.heard = time.monotonic()


class Sweep(OrphanSweep[JobState]):
    """Deletes live Jobs of a store that no run waits for; and finished ones, to make room."""

    def __init__(
        self, cluster: Cluster, watch: Watch, store: Store, minutes: float, clock: Clock = CLOCK
    ) -> None:
        super().__init__(watch.jobs, cluster.delete_job, store, minutes, cluster.closed, clock)
        self._cluster = cluster
        self._making_room, self._removed = threading.Lock(), set[str]()

    def make_room(self) -> bool:
        """Delete the Job that has been done for longest, which a quota counts, too; whether there was one.

        Those that failed stay, as they remember lost machines, and those that a run still waits for.
        """
        with self._making_room:  # many wait for the same quota
            jobs = self.jobs()
            self._removed &= {job.uid for job in jobs}
            done = [job for job in jobs if job.ended == "Complete" and job.store == self.store]
            try:
                for job in done:
                    if not job.deleting and job.uid not in self._removed and not self.is_wanted(job):
                        self._cluster.delete_job(job, patience=0)
                        self._removed.add(job.uid)
                        return True
            except (ClusterError, StoreError) as error:
                self.failed(str(error))
        return False


class Connection:
    """A connected cluster and what is asked of it. Raises ClusterError when that cannot be had.

    root    folder of the code, whose locks name the images
    sink    takes the lines of the scripts' logs: label of the step, line
    closed  ends its threads, once set
    unsaved_minutes  as in `Deployment`
    trouble  is told what keeps the API server from answering
    store   whose Jobs are swept when no run waits for them
    """

    def __init__(
        self,
        kubernetes: Kubernetes,
        root: Path,
        kubeconfig: Path | None,
        sink: Callable[[str, bytes], None],
        closed: threading.Event,
        unsaved_minutes: float,
        trouble: Trouble,
        store: Store,
    ) -> None:
        self.kubernetes, self.sink, self.unsaved_minutes = kubernetes, sink, unsaved_minutes
        self.descriptions = Descriptions(kubernetes, root)
        self.descriptions.check()
        self.cluster = Cluster.connect(kubernetes, kubeconfig, closed, trouble)
        self.watch = Watch(self.cluster)
        classes = kubernetes.worker_classes.items()
        of_class = {name: worker_class.max_jobs for name, worker_class in classes if worker_class.max_jobs}
        self.limits = Limits(kubernetes.max_jobs, of_class, self.watch.jobs)
        self.watch.start()
        self.watch.subscribe("", self.limits.changed)
        self.sweep = Sweep(self.cluster, self.watch, store, kubernetes.orphan_minutes)
        self.sweep.start()
        self.preemptions = Preemptions(self.watch)

    def discard(self, job: JobState, patience: float = 0.0) -> None:
        """Delete a job that is not needed any more; the sweep does it later if that is not possible now."""
        try:
            self.cluster.delete_job(job, patience)
        except ClusterError as error:
            _log.warning(
                "The job %s could not be deleted and goes on until a later run deletes it: %s",
                job.name,
                error,
            )


class Preemptions:
    """Counts of lost machines by step: those this process saw, and those failed Jobs still show."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._counts: Counter[tuple[str, int]] = Counter()
        self._lock = threading.Lock()

    def add(self, step: tuple[str, int], before: int) -> None:
        """Note that an attempt of a step lost its machine, after so many before."""
        with self._lock:
            self._counts[step] = max(self._counts[step], before + 1)

    def count(self, store: str, step: tuple[str, int]) -> int:
        """Count the attempts of a step that lost their machine."""
        with self._lock:
            count = self._counts[step]
        for job in self._watch.jobs_of(store, step):
            if job.ended:
                pod = next(reversed(self._watch.pods(job.name)), None)
                count = max(count, job.preemptions + judge(job, pod).lost_machine)
        return count
