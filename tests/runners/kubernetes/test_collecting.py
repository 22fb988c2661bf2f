"""Tests of the time that a pod waits for steps that may share it."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.runners.scripts import COPY, job
from translations_assets.runners.kubernetes import runner
from translations_assets.runners.kubernetes.jobs import Group
from translations_assets.runners.kubernetes.runner import ClusterJob
from translations_assets.running.runner import Submission

GROUP = Group("split", "cpu", "spot", (), "image")


class Arrivals:
    """Stands for the event that a step has joined: some time after each look another one comes."""

    def __init__(self, capacity: int, coming: int, seconds: float) -> None:
        connection: Any = SimpleNamespace(
            descriptions=SimpleNamespace(steps_per_pod=lambda group: capacity),
            limits=SimpleNamespace(acquire=lambda worker_class, unneeded: None),
        )
        self.store, self.now = MemoryStore(), 0.0
        self.coming, self.seconds = coming, seconds
        self.job = ClusterJob(connection, self.store, GROUP)
        self.job._joined = self  # type: ignore[assignment]
        self.job.join(self.submission(0))

    def submission(self, number: int) -> Submission:
        step = job(self.store, COPY, key=f"{number:064x}")
        return Submission(step, self.store, threading.Event(), lambda event: None, lambda: None)

    def wait(self, seconds: float) -> bool:
        comes = self.coming > 0 and self.seconds < seconds
        self.now += self.seconds if comes else seconds
        if comes:
            self.job.join_group(self.submission(self.coming), GROUP)
            self.coming -= 1
        return comes

    def set(self) -> None:
        pass

    clear = set


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
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: arrivals.now))
    assert arrivals.job._launch() is None
    assert len(arrivals.job.members) == shared
    assert arrivals.now == pytest.approx(waited)
