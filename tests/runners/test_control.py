"""Tests of a worker that its orchestrator has let go, whatever it meets with."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.patience import PATIENCE
from tests.virtual_clock import VirtualClock
from translations_assets.runners.control import Control, LifeLine


@dataclass
class FakeControl:
    cancelled: str = ""
    committing: bool = False
    reasons: list[str] = field(default_factory=list)

    def cancel(self, reason: str) -> None:
        self.cancelled = reason
        self.reasons.append(reason)


@dataclass
class Worker:
    """A worker whose orchestrator has left; its look-ups of who waits raise so many errors first."""

    errors: int
    wanted: int
    clock: VirtualClock = field(default_factory=VirtualClock)
    control: Any = field(default_factory=FakeControl)
    detached: list[float] = field(default_factory=list)
    reports: list[str] = field(default_factory=list)

    def waiters(self) -> int:
        self.errors -= 1
        if self.errors >= 0:
            raise ValueError("strange")
        return self.wanted

    def live(self, seconds: float) -> None:
        ours, theirs = os.pipe()
        os.close(theirs)
        LifeLine(
            ours,
            self.control,
            self.waiters,
            lambda: self.detached.append(self.clock.now),
            self.reports.append,
            self.clock,
        ).start()
        self.clock.run(seconds)
        os.close(ours)


@pytest.mark.parametrize("errors", [0, 1])
def test_it_ends_when_no_other_run_waits(errors: int) -> None:
    worker = Worker(errors, wanted=0)
    worker.live(10)
    assert worker.control.reasons == ["its orchestrator ended, or the run was cancelled"]
    assert (worker.detached, len(worker.reports)) == ([], errors)


@pytest.mark.parametrize("errors", [0, 1])
def test_it_goes_on_for_another_run_and_says_so_once(errors: int) -> None:
    worker = Worker(errors, wanted=1)
    worker.live(10)
    assert (worker.control.reasons, worker.detached) == ([], [1000 + errors])


def test_who_waits_is_asked_again_for_ever_and_reported_once() -> None:
    worker = Worker(errors=1000, wanted=0)
    worker.live(100)
    assert 1000 - worker.errors == 101
    assert (worker.control.reasons, worker.detached) == ([], [])
    assert ["ValueError('strange')" in report for report in worker.reports] == [True]


def test_the_next_job_of_a_pod_can_be_cancelled_as_the_first_could() -> None:
    """A signal is for all jobs; that the last result was being stored, or its lease lost, is not."""
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)]
    control = Control()
    try:
        control.committing = True
        control.lose_lease("another worker has it")
        control.next_job()
        assert (control.cancelled, control.lease_lost, control.committing) == ("", "", False)
        os.kill(os.getpid(), signal.SIGTERM)
        control.wait(PATIENCE)
        control.next_job()
        assert control.cancelled == "SIGTERM from outside"
    finally:
        signal.set_wakeup_fd(-1)
        for number, handler in zip((signal.SIGTERM, signal.SIGINT, signal.SIGCHLD), before, strict=True):
            signal.signal(number, handler)
