"""Tests of the costs of steps, in the units for people and programs."""

from dataclasses import replace

from tests.store.values import manifest
from translations_assets.config.deployment import Costs
from translations_assets.graph.step import Step
from translations_assets.records.manifest import Usage, Worker
from translations_assets.running.prices import Bill, Prices
from translations_assets.why.costs import Spent, spent_on, total
from translations_assets.why.history import Cost


def test_hours_money_and_energy_add_up() -> None:
    spent = [
        Spent(Cost(5400.0, 1800.0, 0.0), Bill(1.5, 0.25)),
        Spent(Cost(1800.0, 0.0, 7200.0), Bill(8.0, 2.0)),
    ]
    assert total(spent).values == {
        "hours": 2.0,
        "cpu_hours": 0.5,
        "gpu_hours": 2.0,
        "money": 9.5,
        "kwh": 2.25,
    }
    assert set(total([]).values.values()) == {0.0}


def test_attempts_that_were_lost_are_paid_too_at_the_price_of_the_machine_that_made_it() -> None:
    gpu = {"price": 3, "spot-price": 1, "watts": 500}
    prices = Prices(Costs.model_validate({"worker-classes": {"gpu": gpu}}), None, lambda stage: "")
    step = Step("pipeline.x", "train", "train_teacher", {}, {}, ("model.npz",), worker="gpu")
    usage = Usage(seconds=3600.0, cpu_seconds=9000.0, gpus=2, earlier_seconds=1800.0)
    made = replace(manifest({}), usage=usage)
    for machine, money in (("spot", 1.5), ("standard", 4.5)):
        worker = Worker(gpus=2, others={"machine": machine})
        one = replace(made, provenance=replace(made.provenance, worker=worker))
        assert spent_on(step, one, prices) == Spent(Cost(5400.0, 0.0, 10800.0), Bill(money, 0.75))
        assert spent_on(step, one, None).bill == Bill()
