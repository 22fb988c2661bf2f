"""At most so many Jobs at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.runners.kubernetes.states import JOB
from translations_assets.config.deployment import WorkerClassName
from translations_assets.runners.batch.limits import Limits, Slot
from translations_assets.runners.kubernetes.state import JobState, Label


class Queue:
    """Limits, and the cluster's Jobs."""

    def __init__(self, total: int, **of_class: int) -> None:
        names: dict[WorkerClassName, int] = {"cpu": 99, "gpu": 99, **of_class}  # type: ignore[dict-item]
        self.jobs: list[JobState] = []
        self.limits = Limits(total, names, lambda: self.jobs)
        self.given = 0

    def ask(self, worker_class: WorkerClassName = "cpu") -> Slot:
        """Ask for a slot; those who ask later stand behind."""
        return self.limits.queue(worker_class, self._give)

    def _give(self) -> None:
        self.given += 1


@pytest.fixture
def queue() -> Queue:
    """Two slots, of which one may have a GPU."""
    return Queue(2, gpu=1)


def job(name: str, worker_class: str = "cpu", **changes: object) -> JobState:
    return replace(JOB, name=name, labels={Label.WORKER_CLASS: worker_class}, **changes)  # type: ignore[arg-type]


def test_whoever_waits_longest_comes_first(queue: Queue) -> None:
    first, second, third, fourth = (queue.ask() for _ in range(4))
    assert [slot.is_free for slot in (first, second, third, fourth)] == [True, True, False, False]
    queue.limits.release(first)
    assert (third.is_free, fourth.is_free, queue.given) == (True, False, 3)


def test_a_class_with_its_own_limit_is_overtaken_by_others(queue: Queue) -> None:
    first, second, other = queue.ask("gpu"), queue.ask("gpu"), queue.ask("cpu")
    assert (first.is_free, second.is_free, other.is_free) == (True, False, True)


def test_live_jobs_of_others_count_and_ended_ones_do_not(queue: Queue) -> None:
    queue.jobs = [job("a"), job("b"), job("c", ended="Failed"), job("d", deleting=True)]
    asked = queue.ask()
    assert not asked.is_free
    queue.jobs = queue.jobs[1:]
    queue.limits.changed()
    assert asked.is_free


def test_a_slot_and_its_job_count_once(queue: Queue) -> None:
    held = queue.ask()
    assert held.is_free
    held.name = "mine"
    queue.jobs = [job("mine")]
    assert queue.ask().is_free


def test_who_gives_up_leaves_no_slot_taken(queue: Queue) -> None:
    queue.jobs = [job("a"), job("b")]
    queue.limits.release(queue.ask())
    queue.jobs = []
    assert all(queue.ask().is_free for _ in range(2))
