"""Tests of the time that a pod waits for steps that may share it."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.runners.scripts import COPY, job
from translations_assets.runners.batch import waited_job
from translations_assets.runners.kubernetes.cluster_job import ClusterJob
from translations_assets.runners.kubernetes.jobs import Group
from translations_assets.running.runner import Submission

GROUP = Group("split", "cpu", "spot", (), "image")


class Enough(Exception):
    """No more steps join: a slot is asked for."""


class Arrivals:
    """Steps that come one after the other, each some time after the one before."""

    def __init__(self, capacity: int, coming: int, seconds: float) -> None:
        self.store, self.now = MemoryStore(), 0.0
        self.times = [seconds * number for number in range(1, coming + 1)]
        self.connection: Any = SimpleNamespace(
            descriptions=SimpleNamespace(steps_per_pod=lambda group: capacity),
            limits=SimpleNamespace(queue=self.stop),
        )

    def submission(self, number: int) -> Submission:
        step = job(self.store, COPY, key=f"{number:064x}")
        return Submission(step, self.store, threading.Event(), lambda event: None, lambda: None)

    def stop(self, worker_class: str, given: object) -> None:
        """Stand for the limits of which a slot is asked for."""
        raise Enough

    def collect(self) -> int:
        """Collect the steps of a pod; how many they are."""
        made = ClusterJob(self.connection, self.store, GROUP, lambda ended: None)
        first = self.submission(0)
        made.join(first)
        work, shared = made.ending(first), 1
        while True:
            try:
                end = self.now + next(work)
                while self.times and self.times[0] <= end:
                    self.now = self.times.pop(0)
                    shared += made.join_group(self.submission(len(self.times) + 1), GROUP)
                    end = self.now + next(work)
                self.now = end
            except Enough:
                return shared


@pytest.mark.parametrize(
    ("capacity", "coming", "seconds", "shared", "waited"),
    [
        (1, 9, 0.2, 1, 0.0),
        (10, 99, 0.2, 10, 1.8),  # is full
        (10, 4, 0.2, 5, 1.1),  # no more come
        (10, 99, 0.4, 1, 0.3),  # too late
        (100, 99, 0.25, 13, 3.0),  # long enough
    ],
)
def test_steps_that_come_one_soon_after_the_other_share_a_pod(
    monkeypatch: pytest.MonkeyPatch, capacity: int, coming: int, seconds: float, shared: int, waited: float
) -> None:
    arrivals = Arrivals(capacity, coming, seconds)
    monkeypatch.setattr(waited_job, "time", SimpleNamespace(monotonic=lambda: arrivals.now))
    assert arrivals.collect() == shared
    assert arrivals.now == pytest.approx(waited)
