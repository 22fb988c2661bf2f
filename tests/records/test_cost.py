"""Tests of costs: sums, in the units for people and programs."""

import json

from translations_assets.records.cost import Cost, amount


def test_hours_money_and_energy_add_up() -> None:
    costs = [Cost(5400.0, 1800.0, 0.0, 1.5, 0.25), Cost(1800.0, 0.0, 7200.0, 8.0, 2.0)]
    assert sum(costs, Cost()) == Cost(7200.0, 1800.0, 7200.0, 9.5, 2.25)
    assert sum(costs, Cost()).values == {
        "hours": 2.0,
        "cpu_hours": 0.5,
        "gpu_hours": 2.0,
        "money": 9.5,
        "kwh": 2.25,
    }
    assert set(Cost().values.values()) == {0.0}
    assert costs[0].times(2.0) == Cost(10800.0, 3600.0, 0.0, 3.0, 0.5)


def test_a_record_keeps_a_cost_under_names_that_stay() -> None:
    cost = Cost(3600.0, 0.0, 7200.0, 8.0, 2.0)
    kept = json.dumps(cost.to_dict())
    assert kept == (
        '{"seconds": 3600.0, "cpu_seconds": 0.0, "gpu_seconds": 7200.0, "money": 8.0, "kwh": 2.0}'
    )
    assert Cost.from_dict(json.loads(kept)) == cost
    assert Cost.from_dict({"seconds": 60, "carbon": 3.0}) == Cost(60.0)  # of a newer version


def test_money_has_two_digits_at_least() -> None:
    assert [*map(amount, (0.0, 0.044, 3.21, 14.4, 1234.5))] == ["0.00", "0.04", "3.2", "14", "1,234"]
