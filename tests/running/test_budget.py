"""A run begins no step that would take it beyond its budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.running.conftest import Bench, demo_graph
from translations_assets.config.deployment import Costs
from translations_assets.errors import StepFailed
from translations_assets.records.manifest import Usage
from translations_assets.running.budget import Budget
from translations_assets.running.prices import Prices

HOUR = 3600.0


def budget(limit: float) -> Budget:
    costs = Costs.model_validate({"currency": "EUR", "worker-classes": {"cpu": {"price": 10}}})
    return Budget(limit, Prices(costs, None, lambda stage: ""))


def test_what_runs_counts_by_its_forecast_and_what_is_made_by_what_it_took(bench: Bench) -> None:
    bench.make()
    manifest = replace(next(iter(bench.store.manifests())), usage=Usage(seconds=HOUR / 5))
    first, second, third, fourth = demo_graph().steps
    forecast = {first.label: HOUR, second.label: HOUR, fourth.label: HOUR}
    within = budget(15)
    assert within.begin(first, forecast) == ""
    assert within.begin(second, forecast) == (
        "with it the run would have cost about 20.00 EUR, and its budget is 15.00 EUR: 0.00 EUR are spent, "
        "it takes 10.00 EUR"
    )
    assert within.begin(third, forecast) == ""  # of which nothing is known
    within.end(third, manifest)
    within.end(first, manifest)
    assert within.spent == pytest.approx(4)
    assert within.begin(second, forecast) == ""
    within.end(second, None)
    assert within.begin(fourth, forecast) == ""
    assert within.spent == pytest.approx(4)


def test_a_step_beyond_it_does_not_begin_and_what_is_made_is_kept(bench: Bench) -> None:
    session = bench.session(demo_graph())
    session.budget = budget(15)
    session.forecast = {"write-a": HOUR, "join": HOUR, "count": 2 * HOUR}
    bench.run(session, "texts", "join")
    with pytest.raises(StepFailed) as failed:
        bench.run(session, "count")
    assert str(failed.value).splitlines()[0] == (
        "The step count failed: not begun: with it the run would have cost about 20.00 EUR, and its budget "
        "is 15.00 EUR: 0.00 EUR are spent, it takes 20.00 EUR. What is made is kept. To go on, with as much "
        "again: translations rerun run-1"
    )
    assert bench.runner.ran == ["write-a", "write-b", "join"]
    session.budget = budget(25)
    bench.run(session, "count")
    assert bench.runner.ran[-1] == "count"
