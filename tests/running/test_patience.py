"""Waiting for a store that is away: how long, how often, and what it does not cost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.running.conftest import Bench, graph_of, one_stage
from translations_assets.common.errors import RunCancelled, StepFailed, StoreUnreachable
from translations_assets.records.manifest import Manifest
from translations_assets.running import attempts, tasks
from translations_assets.running import engine as engine_module
from translations_assets.running.events import Retry, StepEvent
from translations_assets.running.job import Outcome
from translations_assets.running.tasks import when_reachable

AWAY = StoreUnreachable("The store cannot be reached.")


class Clock:
    """Time that passes only in pauses, and in actions that take some."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        monkeypatch.setattr("translations_assets.common.background.time.monotonic", lambda: self.now)

    def wait(self, seconds: float) -> bool:
        self.pauses.append(seconds)
        self.now += seconds
        return False


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_store_that_is_away_for_a_minute_is_waited_for(clock: Clock) -> None:
    told: list[str] = []

    def ask() -> str:
        if clock.now < 60:
            raise AWAY
        return "there"

    assert when_reachable(ask, tasks.RUN_SECONDS, clock.wait, told.append) == "there"
    assert told == ["The store cannot be reached. Waiting for it, at most 5 minutes."]
    assert clock.pauses[:5] == [1, 2, 4, 8, 15]
    assert clock.now < 80


def test_patience_ends(clock: Clock) -> None:
    def ask() -> None:
        raise AWAY

    with pytest.raises(StoreUnreachable):
        when_reachable(ask, 300, clock.wait, lambda message: None)
    assert 300 <= clock.now < 320


def test_hours_of_work_between_two_outages_do_not_count(clock: Clock) -> None:
    outages = iter([True, True, False])

    def work() -> str:
        clock.now += 10_000
        if next(outages):
            raise AWAY
        return "done"

    assert when_reachable(work, 300, clock.wait, lambda message: None) == "done"
    assert clock.pauses == [1, 1]


def test_whoever_needs_it_no_more_does_not_wait(clock: Clock) -> None:
    def ask() -> None:
        raise AWAY

    with pytest.raises(StoreUnreachable):
        when_reachable(ask, 300, lambda seconds: True, lambda message: None)
    assert clock.now == 0


# In the engine


class AwayStore(MemoryStore):
    """A store one of whose methods cannot reach it for the first few times."""

    def __init__(self, method: str, times: int) -> None:
        super().__init__()
        self.method, self.times = method, times

    def _reach(self, method: str) -> None:
        if method == self.method and self.times:
            self.times -= 1
            raise AWAY

    def latest(self, key: str) -> Manifest | None:
        self._reach("latest")
        return super().latest(key)

    def attempts(self, key: str, generation: int) -> list[int]:
        self._reach("attempts")
        return super().attempts(key, generation)

    def write_run(self, run: str, value: Any) -> None:
        self._reach("write_run")
        super().write_run(run, value)

    def add_ref(self, ref: Any) -> None:
        self._reach("add_ref")
        super().add_ref(ref)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of a millisecond."""
    monkeypatch.setattr(tasks, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(tasks, "LAST_PAUSE", 0.001)
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.001)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("method", ["latest", "attempts", "write_run", "add_ref"])
def test_the_engine_waits_for_its_store(bench: Bench, method: str) -> None:
    store = AwayStore(method, times=10)
    bench.store = store
    session = bench.session()
    assert len(bench.run(session)) == 4
    for stage in session.graph.stages:
        session.results.publish(stage)
    assert store.times == 0
    assert sorted(bench.runner.ran) == ["count", "join", "write-a", "write-b"]
    told = [(event.step, event.what) for event in bench.events if isinstance(event.what, Retry)]
    assert bool(told) == (method != "add_ref")
    assert len({step for step, _ in told}) == len(told), "once for a step, not ten times"
    assert all("Waiting for it, at most 5 minutes." in retry.message for _, retry in told)


@pytest.mark.usefixtures("quick")
def test_attempts_that_the_store_ended_do_not_count(bench: Bench) -> None:
    """A step may be tried three times; seven attempts found no store."""
    away = Outcome("temporary", message="The store cannot be reached.", unreachable=True)
    dead = Outcome("temporary", message="the worker was killed")
    bench.runner.ends["write-a"] = [away] * 5 + [dead] + [away] * 2 + [dead]
    session = bench.session(graph_of(one_stage({"write-a": "one"})))
    (result,) = bench.run(session)
    assert result.manifest.attempt == 3
    assert bench.runner.ran == ["write-a"] * 10


@pytest.mark.usefixtures("quick")
def test_a_store_that_stays_away_fails_the_step_that_needs_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "RUN_SECONDS", 0.01)
    bench.store = AwayStore("attempts", times=1_000_000)
    with pytest.raises(StepFailed, match="The store cannot be reached"):
        bench.make()


@pytest.mark.usefixtures("quick")
def test_cancelling_ends_the_wait_and_is_no_failure(bench: Bench) -> None:
    bench.store = AwayStore("latest", times=1_000_000)
    session = bench.session()

    def listen(event: StepEvent) -> None:
        bench.events.append(event)
        bench.cancel.set()

    with pytest.raises(RunCancelled):
        engine_module.Engine(bench.store, bench.runner).run(
            session, session.graph.steps, bench.cancel, listen
        )
    assert {event.what.kind for event in bench.events} == {"retry"}
