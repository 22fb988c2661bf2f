"""A run begins no step that would take it beyond its budget."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace

import pytest

from tests.memory_store import MemoryStore
from tests.running.conftest import Bench, demo_graph
from translations_assets.common.background import Clock
from translations_assets.common.errors import RunCancelled, StepFailed, StoreUnreachable
from translations_assets.config.deployment import Costs
from translations_assets.records.cost import HOUR, Cost
from translations_assets.records.run import RunOptions, RunRecord
from translations_assets.running.budget import Budget, SpentByOthers, spent_of
from translations_assets.running.events import Notice
from translations_assets.running.job import Outcome
from translations_assets.running.prices import Prices
from translations_assets.running.session import Session


def budget(limit: float) -> Budget:
    costs = Costs.model_validate({"currency": "EUR", "worker-classes": {"cpu": {"price": 10}}})
    return Budget(limit, Prices(costs, None, lambda stage: ""))


def test_what_runs_counts_by_its_forecast_and_an_attempt_by_what_it_took() -> None:
    first, second, third, fourth = demo_graph().steps
    forecast = {each.label: Cost(HOUR, money=10.0) for each in (first, second, fourth)}
    within = budget(15)
    assert within.begin(first, forecast) == ""
    assert within.begin(second, forecast) == (
        "it would raise the run's cost to about 20.00 EUR, above the budget of 15.00 EUR: 0.00 EUR are "
        "spent, and it takes 10.00 EUR"
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


def test_what_other_runs_of_a_sweep_have_spent_counts() -> None:
    store, (first, *_) = MemoryStore(), demo_graph().steps
    sweep = RunOptions(sweep="rates-1")
    for run, options, spent in (
        ("one", sweep, 8.0),
        ("two", sweep, 1.0),
        ("own", sweep, 20.0),
        ("before", RunOptions(sweep="rates-0"), 40.0),
        ("alone", RunOptions(), 80.0),
    ):
        store.write_run(run, RunRecord(run=run, options=options, spent=spent))
    others = SpentByOthers(store, "own", "rates-1")
    assert others() == 9.0
    store.write_run("two", RunRecord(run="two", options=sweep, spent=2.0))
    assert others() == 9.0  # asked a moment ago
    assert SpentByOthers(store, "own", "rates-1")() == 10.0
    assert SpentByOthers(store, "own", "")() == 0.0
    within = replace(budget(15), others=others)
    forecast = {first.label: Cost(HOUR, money=10.0)}
    assert within.begin(first, forecast) == (
        "it would raise the run's cost to about 19.00 EUR, above the budget of 15.00 EUR: 9.00 EUR are "
        "spent, and it takes 10.00 EUR"
    )
    assert replace(budget(9), others=others).begin(first, {}) == (
        "the run's budget of 9.00 EUR is spent: 9.00 EUR"
    )
    assert replace(budget(20), others=others).begin(first, forecast) == ""
    assert within.told() == "The run has spent 9.00 EUR of its budget of 15.00 EUR."


class Away(MemoryStore):
    """A store that cannot be reached while `away` is set; it counts how often it is asked then."""

    away, asked = False, 0

    def runs(self) -> list[str]:
        if self.away:
            self.asked += 1
            raise StoreUnreachable("The bucket cannot be reached.")
        return super().runs()


def test_while_the_store_is_away_the_last_known_sum_counts_and_the_run_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("translations_assets.running.budget.FRESH_SECONDS", -1.0)
    bench.store = store = Away()
    sweep = RunOptions(sweep="rates-1")
    store.write_run("one", RunRecord(run="one", options=sweep, spent=8.0))
    session = bench.session(demo_graph(), options=sweep)
    session.budget = replace(budget(15), others=SpentByOthers(store, session.run, "rates-1"))
    bench.run(session, "texts")
    store.away = True
    bench.run(session, "join")
    assert store.asked
    assert session.budget.told() == "The run has spent 8.00 EUR of its budget of 15.00 EUR."


def test_a_store_that_is_away_is_not_asked_each_time() -> None:
    store = Away()
    store.away = True
    others = SpentByOthers(store, "own", "rates-1")
    assert [others(), others(), store.asked] == [0.0, 0.0, 1]


def test_tokens_are_charged_while_they_are_used_and_those_of_earlier_attempts_are_not() -> None:
    models = {"llm": {"read": 1, "written": 10}}
    costs = Costs.model_validate({"worker-classes": {"cpu": {"price": 0}}, "models": models})
    within = Budget(5.0, Prices(costs, None, lambda stage: ""))
    first, *_ = demo_graph().steps
    step = replace(first, script="pipeline.translate.ask", args={"model": "llm"})
    within.begin(step, {})
    within.start(step, 0.0)
    for written in (70_000, 170_000, 270_000):  # 70,000 in an attempt before this run
        within.note(step, {"tokens_read": 0, "tokens_written": written})
    assert within.until(10.0) == pytest.approx(2.0)
    within.note(step, {"tokens_read": 1_000_000, "tokens_written": 370_000})
    within.note(step, {"update": 5})
    assert within.until(10.0) == pytest.approx(4.0)
    assert within.overdrawn(10.0) == {}
    within.end(step, 10.0, None)
    assert within.spent == pytest.approx(4.0)
    within.begin(step, {})
    within.start(step, 20.0)
    assert within.until(30.0) == pytest.approx(4.0)
    within.note(step, {"tokens_read": 1_000_000, "tokens_written": 370_000})
    within.note(step, {"tokens_read": 1_000_000, "tokens_written": 520_000})
    assert within.until(30.0) == pytest.approx(5.5)
    assert step in within.overdrawn(30.0)


def test_characters_are_charged_while_they_are_translated() -> None:
    costs = {"worker-classes": {"cpu": {"price": 0}}, "models": {"google": {"characters": 20}}}
    within = Budget(5.0, Prices(Costs.model_validate(costs), None, lambda stage: ""))
    first, *_ = demo_graph().steps
    step = replace(first, script="pipeline.translate.ask_commercial", args={"service": "google"})
    within.begin(step, {})
    within.start(step, 0.0)
    for characters in (100_000, 200_000, 300_000):  # 100,000 in an attempt before this run
        within.note(step, {"characters": characters})
    assert within.until(10.0) == pytest.approx(4.0)
    within.note(step, {"characters": 400_000})
    assert step in within.overdrawn(10.0)


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
    forecast, within = {"count": Cost(HOUR, money=10.0)}, budget(15)
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
    """Gate that a script passes after an hour."""

    def __init__(self, clock: Later) -> None:
        super().__init__()
        self._clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        self._clock.ahead += HOUR
        return True


class Passing(threading.Event):
    """Gate that a script passes after so many hours, by a faster clock."""

    def __init__(self, clock: Later, hours: float) -> None:
        super().__init__()
        self._clock, self._left = clock, hours * HOUR

    def wait(self, timeout: float | None = None) -> bool:
        time.sleep(0.005)
        self._clock.ahead += 20.0
        self._left -= 20.0
        return self._left <= 0


def test_what_takes_more_than_is_left_for_it_is_known_while_it_runs() -> None:
    """10 EUR an hour, a budget of 15: the first is to take half an hour, of the second nothing is known."""
    first, second, third, _ = demo_graph().steps
    forecast = {first.label: Cost(HOUR / 2, money=5.0)}
    within = budget(15)
    assert within.begin(first, forecast) == within.begin(second, forecast) == ""
    within.start(first, 0.0)
    within.start(second, 0.0)
    assert within.overdrawn(HOUR / 2) == {}  # 5 + 5
    assert within.overdrawn(0.7 * HOUR) == {}  # 7 + 7
    within.end(first, 0.8 * HOUR, None)  # 8
    assert within.overdrawn(0.69 * HOUR) == {}  # 8 + 6.9
    assert within.overdrawn(0.8 * HOUR) == {
        second: "it has cost 8.00 EUR, more than the run's budget of 15.00 EUR leaves for it"
    }
    within.end(second, 0.6 * HOUR, None)  # 14
    assert within.begin(third, {third.label: Cost(money=1.0)}) == ""
    assert within.begin(second, {}) == (
        "the run's budget of 15.00 EUR leaves nothing for it: 14.00 EUR are spent, and running steps take "
        "1.00 EUR"
    )


def test_what_was_foreseen_for_others_is_not_left_for_what_was_not() -> None:
    first, second, *_ = demo_graph().steps
    within, forecast = budget(15), {first.label: Cost(HOUR, money=10.0)}
    assert within.begin(second, {}) == within.begin(first, forecast) == ""
    within.start(second, 0.0)
    within.start(first, 0.0)
    assert within.overdrawn(0.5 * HOUR) == {}  # 5, and 10 that are to come
    assert list(within.overdrawn(0.51 * HOUR)) == [second]


@pytest.mark.parametrize(
    ("spent", "said"),
    [
        (2.134, "The run has spent 2.13 EUR, 2.12 EUR more than its budget of 0.01 EUR."),
        (0.01, "The run has spent 0.01 EUR of its budget of 0.01 EUR."),
    ],
)
def test_what_was_spent_is_said(spent: float, said: str) -> None:
    assert spent_of(spent, 0.01, "EUR") == said


def over_budget(bench: Bench, *, is_hard: bool) -> Session:
    """A run with 5 EUR whose step `join` has no forecast and takes three hours of 10 EUR each."""
    bench.clock = clock = Later()
    session = bench.session(demo_graph(), clock=clock)
    session.budget = replace(budget(5), is_hard=is_hard)
    bench.runner.gates["join"] = Passing(clock, 3)
    return session


TAKEN = r"it has cost (?:[5-9]|[1-9]\d)\.\d\d EUR, more than the run's budget of 5\.00 EUR leaves for it"


def test_a_step_that_takes_more_than_is_left_is_told_of_once_and_goes_on(bench: Bench) -> None:
    session = over_budget(bench, is_hard=False)
    bench.run(session, "texts", "join")
    ((step, told),) = [(each.step, each.what) for each in bench.events if isinstance(each.what, Notice)]
    assert step.label == "join"
    assert re.fullmatch(
        TAKEN + r"\. It continues, at 10\.00 EUR an hour\. To stop the run: translations cancel run-1\. "
        r"--hard-budget stops such steps\.",
        told.message,
    )
    assert session.budget
    assert session.budget.spent == pytest.approx(30, abs=0.2)
    with pytest.raises(StepFailed, match="not begun: the run's budget of 5.00 EUR is spent: 30.") as failed:
        bench.run(session, "count")
    assert failed.value.unpaid


def test_a_hard_budget_ends_the_step(bench: Bench) -> None:
    session = over_budget(bench, is_hard=True)
    with pytest.raises(StepFailed) as failed:
        bench.run(session, "texts", "join")
    assert failed.value.unpaid
    assert re.search(
        f"The step join failed: ended: {TAKEN}. Finished results are kept. To continue with the same budget "
        "again: translations rerun run-1",
        str(failed.value),
    )
    assert bench.runner.ran.count("join") == 1
    assert [event for event in bench.events if isinstance(event.what, Notice)] == []
    session.end()
    record = bench.store.read_run(session.run)
    assert record
    assert 5 < record.spent < 100  # it is looked twice a second, in which this clock goes half an hour
    assert record.failed["join"].startswith("ended: it has cost")


def test_a_run_with_a_hard_budget_is_cancelled_as_any_other(bench: Bench) -> None:
    session = over_budget(bench, is_hard=True)
    session.budget = replace(budget(5000), is_hard=True)
    bench.runner.gates["join"] = Passing(Later(), 1000)
    threading.Timer(0.5, bench.cancel.set).start()
    with pytest.raises(RunCancelled):
        bench.run(session, "texts", "join")


def test_attempts_that_fail_are_paid_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("translations_assets.running.attempts.RETRY_SECONDS", 0.0)
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
    lost.record.write()
    session.take_over_budget()
    assert session.budget.spent == pytest.approx(10, abs=0.1)


def test_what_a_lost_run_of_a_sweep_has_spent_counts_once(bench: Bench) -> None:
    sweep = RunOptions(sweep="rates-1")
    lost = bench.session(demo_graph(), run="run-0", options=sweep)
    lost.budget = replace(budget(15), spent=6.0)
    lost.record.write()
    session = bench.session(demo_graph(), run="run-1", continues=["run-0"], options=sweep)
    session.budget = replace(budget(15), others=SpentByOthers(bench.store, "run-1", "rates-1"))
    session.take_over_budget()
    session.record.write()
    assert session.budget.told() == "The run has spent 6.00 EUR of its budget of 15.00 EUR."
    assert SpentByOthers(bench.store, "run-2", "rates-1")() == 6.0


def test_a_step_beyond_it_does_not_begin_and_what_is_made_is_kept(bench: Bench) -> None:
    session = bench.session(demo_graph())
    session.budget = budget(15)
    hours = {"write-a": 1, "join": 1, "count": 2}
    session.expected = {label: Cost(n * HOUR, money=10.0 * n) for label, n in hours.items()}
    bench.run(session, "texts", "join")
    with pytest.raises(StepFailed) as failed:
        bench.run(session, "count")
    assert str(failed.value).splitlines()[0] == (
        "The step count failed: not begun: it would raise the run's cost to about 20.00 EUR, above the "
        "budget of 15.00 EUR: 0.00 EUR are spent, and it takes 20.00 EUR. Finished results are kept. To "
        "continue with the same budget again: translations rerun run-1"
    )
    assert {*bench.runner.ran} == {"write-a", "write-b", "join"}
    session.budget = budget(25)
    bench.run(session, "count")
    assert bench.runner.ran[-1] == "count"
