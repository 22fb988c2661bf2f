"""Hours and machine use under names that stay."""

from translations_assets.records.cost import Cost
from translations_assets.records.manifest import Usage
from translations_assets.report.machines import hours, machine_use, money


def test_hours_are_told_in_all_and_by_worker_class() -> None:
    costs = {
        "cpu": Cost(3600.0, 5400.0, 0.0),
        "large-gpu": Cost(7200.0, 0.0, 8 * 7200.0),
        "gpu": Cost(1800.0, 36.0, 1800.0),
    }
    assert hours(costs) == {
        "hours": 3.5,
        "gpu_hours": 16.5,
        "cpu_hours": 1.51,
        "cpu_hours_cpu": 1.5,
        "gpu_hours_large_gpu": 16.0,
        "gpu_hours_gpu": 0.5,
        "cpu_hours_gpu": 0.01,
    }


def test_money_is_told_in_all_and_by_worker_class() -> None:
    costs = {"cpu": Cost(money=0.25), "large-gpu": Cost(money=9.6, kwh=1.6)}
    assert money(costs) == {
        "money": 9.85,
        "kwh": 1.6,
        "money_cpu": 0.25,
        "money_large_gpu": 9.6,
        "kwh_large_gpu": 1.6,
    }


def test_nothing_used_nothing() -> None:
    assert hours({}) == {}
    assert money({}) == {}
    assert machine_use([]) == {"duration": 0, "cpu_time": 0, "peak_memory": 0.0}


def test_whole_seconds_are_numbers_like_others() -> None:
    """Dagster takes no whole number where another run had one with digits."""
    used = machine_use([Usage(seconds=2, cpu_seconds=1, gpus=1, gpu_memory=5)])
    assert {type(value) for value in used.values()} == {float}
