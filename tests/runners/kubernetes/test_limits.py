"""At most so many Jobs at once."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.runners.kubernetes.states import JOB
from tests.runners.scripts import eventually
from translations_assets.config.deployment import WorkerClassName
from translations_assets.runners.kubernetes.connection import Limits, Slot
from translations_assets.runners.kubernetes.state import JobState, Label


class Queue:
    """Limits, the cluster's Jobs, and threads that wait for slots."""

    def __init__(self, total: int, **of_class: int) -> None:
        names: dict[WorkerClassName, int] = {"cpu": 99, "gpu": 99, **of_class}  # type: ignore[dict-item]
        self.jobs: list[JobState] = []
        self.limits = Limits(total, names, lambda: self.jobs)
        self.given_up = threading.Event()
        self._pool = ThreadPoolExecutor(10)

    def acquire(self, worker_class: WorkerClassName = "cpu") -> Future[Slot | None]:
        """Ask for a slot; those who ask later stand behind."""
        before = self._known()
        asked = self._pool.submit(self.limits.acquire, worker_class, self.given_up.is_set)
        assert eventually(lambda: self._known() > before or asked.done())
        return asked

    def _known(self) -> int:
        """Number of tickets that wait for a slot or have one."""
        return len(self.limits._queue) + len(self.limits._held)


@pytest.fixture
def queue() -> Queue:
    """Two slots, of which one may have a GPU."""
    return Queue(2, gpu=1)


def job(name: str, worker_class: str = "cpu", **changes: object) -> JobState:
    return replace(JOB, name=name, labels={Label.WORKER_CLASS: worker_class}, **changes)  # type: ignore[arg-type]


def test_whoever_waits_longest_comes_first(queue: Queue) -> None:
    first, second, third, fourth = (queue.acquire() for _ in range(4))
    held = first.result(5)
    assert held
    assert second.result(5)
    assert not third.done()
    queue.limits.release(held)
    assert third.result(5)
    assert not fourth.done()
    queue.given_up.set()
    assert fourth.result(5) is None


def test_a_class_with_its_own_limit_is_overtaken_by_others(queue: Queue) -> None:
    first, second, other = queue.acquire("gpu"), queue.acquire("gpu"), queue.acquire("cpu")
    assert first.result(5)
    assert other.result(5)
    assert not second.done()
    queue.given_up.set()


def test_live_jobs_of_others_count_and_ended_ones_do_not(queue: Queue) -> None:
    queue.jobs = [job("a"), job("b"), job("c", ended="Failed"), job("d", deleting=True)]
    asked = queue.acquire()
    assert not asked.done()
    queue.jobs = queue.jobs[1:]
    queue.limits.changed()
    assert asked.result(5)


def test_a_slot_and_its_job_count_once(queue: Queue) -> None:
    held = queue.acquire().result(5)
    assert held
    held.name = "mine"
    queue.jobs = [job("mine")]
    assert queue.acquire().result(5)


def test_who_gives_up_leaves_no_slot_taken(queue: Queue) -> None:
    queue.jobs = [job("a"), job("b")]
    asked = queue.acquire()
    queue.given_up.set()
    assert asked.result(5) is None
    queue.jobs = []
    queue.given_up.clear()
    assert all(queue.acquire().result(5) for _ in range(2))
