"""Jobs that nobody waits for, and preemptions that failed Jobs remember."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.runners.kubernetes.states import FAILED, JOB, POD, ended
from tests.store.fake_objects import Clock
from tests.virtual_clock import VirtualClock
from translations_assets.runners.batch.member import Member, store_label
from translations_assets.runners.kubernetes.cluster import ClusterAway
from translations_assets.runners.kubernetes.connection import Preemptions, Sweep
from translations_assets.runners.kubernetes.state import JobState, Label, PodState

STEP = JOB.members[0]


class Cluster:
    """Jobs and pods, and which Jobs were deleted; stands for the watch as well."""

    def __init__(self, *jobs: JobState) -> None:
        self.found = list(jobs)
        self.closed = threading.Event()
        self.of_job: dict[str, list[PodState]] = {}
        self.deleted: list[str] = []

    def jobs(self) -> list[JobState]:
        return self.found

    def jobs_of(self, store: str, step: tuple[str, int]) -> list[JobState]:
        of_store = [job for job in self.found if job.labels.get(Label.STORE) == store_label(store)]
        return [job for job in of_store if step in [member.step for member in job.members]]

    def pods(self, job: str) -> list[PodState]:
        return self.of_job.get(job, [])

    def delete_job(self, job: JobState, patience: float = 0.0) -> None:
        self.deleted.append(job.name)


@pytest.fixture
def store() -> MemoryStore:
    """An empty store."""
    return MemoryStore()


@pytest.fixture
def clock() -> Clock:
    """The sweep's clock."""
    return Clock(1000.0)


def of_store(store: MemoryStore, job: JobState = JOB, **changes: Any) -> JobState:
    return replace(job, labels={Label.STORE: store_label(store.url)}, **changes)


def look(sweep: Sweep, clock: Clock, minutes: float) -> None:
    clock.now += minutes * 60
    sweep.check()


def swept(cluster: Cluster, store: MemoryStore, clock: Clock) -> Sweep:
    return Sweep(cluster, cluster, store, 15, clock)  # type: ignore[arg-type]


def test_a_job_that_nobody_has_waited_for_long_enough_is_deleted(store: MemoryStore, clock: Clock) -> None:
    cluster = Cluster(of_store(store))
    sweep = swept(cluster, store, clock)
    for minutes in (0, 5, 5):
        look(sweep, clock, minutes)
        assert cluster.deleted == []
    look(sweep, clock, 5)
    assert cluster.deleted == [JOB.name]


def test_somebody_who_comes_in_time_keeps_it(store: MemoryStore, clock: Clock) -> None:
    cluster = Cluster(of_store(store))
    sweep = swept(cluster, store, clock)
    look(sweep, clock, 0)
    with store.owners.waiting(STEP.key, STEP.generation):
        look(sweep, clock, 14)
        look(sweep, clock, 14)
    for _ in range(3):
        look(sweep, clock, 7)
    assert cluster.deleted == []
    look(sweep, clock, 7)
    assert cluster.deleted == [JOB.name]


def test_one_waiter_keeps_a_shared_job(store: MemoryStore, clock: Clock) -> None:
    cluster = Cluster(of_store(store, members=(STEP, Member("cd", 1, 1, "other"))))
    sweep = swept(cluster, store, clock)
    with ExitStack() as waiting:
        waiting.enter_context(store.owners.waiting("cd", 1))
        for _ in range(4):
            look(sweep, clock, 10)
    assert cluster.deleted == []


def test_ended_jobs_and_those_of_other_stores_are_left_alone(store: MemoryStore, clock: Clock) -> None:
    cluster = Cluster(of_store(store, FAILED), of_store(store, deleting=True), of_store(MemoryStore()))
    sweep = swept(cluster, store, clock)
    for _ in range(4):
        look(sweep, clock, 10)
    assert cluster.deleted == []


def test_failed_jobs_tell_how_often_a_step_lost_its_machine(store: MemoryStore) -> None:
    step = STEP.step
    cluster = Cluster()
    preemptions = Preemptions(cluster)  # type: ignore[arg-type]
    assert preemptions.count(store.url, step) == 0
    cluster.found = [of_store(store, FAILED, preemptions=1)]
    cluster.of_job[FAILED.name] = [ended(1)]
    assert preemptions.count(store.url, step) == 1
    cluster.of_job[FAILED.name] = [ended(143)]
    assert preemptions.count(store.url, step) == 2
    cluster.found = [of_store(store, preemptions=1)]
    cluster.of_job[FAILED.name] = [POD]
    assert preemptions.count(store.url, step) == 0
    assert preemptions.count(store.url, ("other", 1)) == 0


def test_what_was_seen_is_remembered_when_the_job_has_expired(store: MemoryStore) -> None:
    preemptions = Preemptions(Cluster())  # type: ignore[arg-type]
    for before in (0, 1, 1):
        preemptions.add(STEP.step, before)
    assert preemptions.count(store.url, STEP.step) == 2


@pytest.mark.parametrize("errors", [1, 1000])
def test_it_goes_on_after_what_was_not_foreseen(
    store: MemoryStore, errors: int, caplog: pytest.LogCaptureFixture
) -> None:
    cluster, clock = Cluster(of_store(store)), VirtualClock()
    listed, failures = cluster.jobs, iter([ValueError("strange")] * errors)

    def jobs() -> list[JobState]:
        for error in failures:
            raise error
        return listed()

    cluster.jobs = jobs  # type: ignore[method-assign]
    sweep = Sweep(cluster, cluster, store, 15, clock)  # type: ignore[arg-type]
    sweep.start()
    clock.run(17 * 60)
    assert cluster.deleted == ([JOB.name] if errors == 1 else [])
    assert len(caplog.records) == (2 if errors == 1 else 1), "told once, and what is deleted"
    cluster.closed.set()
    clock.run(60)  # the round that is due
    cluster.deleted.clear()
    clock.run(60 * 60)
    assert cluster.deleted == []


def test_room_is_made_by_jobs_that_are_done_and_not_wanted_each_once(
    store: MemoryStore, clock: Clock
) -> None:
    other = Member("cd", 1, 1, "wanted")
    done = [of_store(store, replace(JOB, ended="Complete"), name=name, uid=name) for name in "abcd"]
    done[1] = replace(done[1], members=(other,))
    failed = of_store(store, FAILED, name="failed", uid="failed")
    foreign = replace(JOB, ended="Complete", name="foreign", uid="foreign")
    cluster = Cluster(failed, foreign, of_store(store), replace(done[0], deleting=True), *done[1:])
    sweep = swept(cluster, store, clock)
    with store.owners.waiting(*other.step):
        assert [sweep.make_room() for _ in range(3)] == [True, True, False]
    assert cluster.deleted == ["c", "d"]
    assert sweep.make_room()
    assert cluster.deleted == ["c", "d", "b"]


def test_no_room_is_made_while_the_cluster_does_not_answer(store: MemoryStore, clock: Clock) -> None:
    class Away(Cluster):
        def delete_job(self, job: JobState, patience: float = 0.0) -> None:
            raise ClusterAway("away")

    assert not swept(Away(of_store(store, replace(JOB, ended="Complete"))), store, clock).make_room()
