"""A run begins no step that would take it beyond its budget."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.running.conftest import Bench, demo_graph
from translations_assets.background import Clock
from translations_assets.config.deployment import Costs
from translations_assets.errors import StepFailed
from translations_assets.records.run import Expected
from translations_assets.running.budget import Budget
from translations_assets.running.job import Outcome
from translations_assets.running.prices import Prices

HOUR = 3600.0


def budget(limit: float) -> Budget:
    costs = Costs.model_validate({"currency": "EUR", "worker-classes": {"cpu": {"price": 10}}})
    return Budget(limit, Prices(costs, None, lambda stage: ""))


def test_what_runs_counts_by_its_forecast_and_an_attempt_by_what_it_took() -> None:
    first, second, third, fourth = demo_graph().steps
    forecast = {each.label: Expected(HOUR, money=10.0) for each in (first, second, fourth)}
    within = budget(15)
    assert within.begin(first, forecast) == ""
    assert within.begin(second, forecast) == (
        "with it the run would have cost about 20.00 EUR, and its budget is 15.00 EUR: 0.00 EUR are spent, "
        "it takes 10.00 EUR"
    )
    assert within.begin(third, forecast) == ""  # of which nothing is known
    within.start(third, 100.0)
    assert within.until(100.0 + HOUR / 10) == pytest.approx(1)
    within.end(third, 100.0 + HOUR / 5, None)  # in vain: it is paid for all the same
    within.start(first, 500.0)
    within.end(first, 500.0 + HOUR / 5, None)
    assert within.spent == within.until(9e9) == pytest.approx(4)
    assert within.begin(second, forecast) == ""
    within.end(second, 9e9, None)  # it never had a machine
    assert within.begin(fourth, forecast) == ""
    assert within.spent == pytest.approx(4)


def test_nothing_begins_once_it_is_spent() -> None:
    first, second, *_ = demo_graph().steps
    within = budget(15)
    assert within.begin(first, {}) == ""
    within.start(first, 0.0)
    within.end(first, 2 * HOUR, None)
    spent = "the run's budget of 15.00 EUR is spent: 20.00 EUR"
    assert (within.begin(first, {}), within.begin(second, {})) == (spent, spent)


@pytest.mark.parametrize(("resumable", "begins"), [(True, True), (False, False)])
def test_a_step_that_goes_on_needs_only_what_is_left_of_it(resumable: bool, begins: bool) -> None:
    step = replace(demo_graph().step("count"), resumable=resumable)
    forecast, within = {"count": Expected(HOUR, money=10.0)}, budget(15)
    assert within.begin(step, forecast) == ""
    within.start(step, 0.0)
    within.end(step, 0.9 * HOUR, None)
    assert (within.begin(step, forecast) == "") == begins


class Later(Clock):
    """A clock that is put forward."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


class TakesAnHour(threading.Event):
    """What a script waits for before it ends."""

    def __init__(self, clock: Later) -> None:
        super().__init__()
        self._clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        self._clock.ahead += HOUR
        return True


def test_attempts_that_fail_are_paid_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translations_assets.running.engine.RETRY_SECONDS", 0.0)
    bench.clock = clock = Later()
    session = bench.session(demo_graph(), clock=clock)
    session.budget = budget(15)
    bench.runner.gates["join"] = TakesAnHour(clock)
    bench.runner.ends["join"] = [Outcome("temporary", message="its machine was lost")] * 3
    with pytest.raises(StepFailed) as failed:
        bench.run(session, "texts", "join")
    assert "not begun: the run's budget of 15.00 EUR is spent: 20.0" in str(failed.value)
    assert bench.runner.ran.count("join") == 2
    session.end()
    record = bench.store.read_run(session.run)
    assert record
    assert record.spent == pytest.approx(20, abs=0.1)


def test_a_run_in_place_of_a_lost_one_has_what_is_left(bench: Bench) -> None:
    lost, session = bench.session(demo_graph(), run="run-0"), bench.session(demo_graph(), continues=["run-0"])
    lost.budget, session.budget = budget(15), budget(15)
    step = demo_graph().step("count")
    assert lost.budget.begin(step, {}) == ""
    lost.budget.start(step, lost.clock.monotonic() - HOUR)  # the run was lost while it ran
    lost.write_down()
    session.take_over_budget()
    assert session.budget.spent == pytest.approx(10, abs=0.1)


def test_a_step_beyond_it_does_not_begin_and_what_is_made_is_kept(bench: Bench) -> None:
    session = bench.session(demo_graph())
    session.budget = budget(15)
    hours = {"write-a": 1, "join": 1, "count": 2}
    session.expected = {label: Expected(n * HOUR, money=10.0 * n) for label, n in hours.items()}
    bench.run(session, "texts", "join")
    with pytest.raises(StepFailed) as failed:
        bench.run(session, "count")
    assert str(failed.value).splitlines()[0] == (
        "The step count failed: not begun: with it the run would have cost about 20.00 EUR, and its budget "
        "is 15.00 EUR: 0.00 EUR are spent, it takes 20.00 EUR. What is made is kept. To go on, with as much "
        "again: translations rerun run-1"
    )
    assert {*bench.runner.ran} == {"write-a", "write-b", "join"}
    session.budget = budget(25)
    bench.run(session, "count")
    assert bench.runner.ran[-1] == "count"
