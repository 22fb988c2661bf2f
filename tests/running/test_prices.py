"""Tests of the prices of machines."""

from dataclasses import replace

from tests.store.values import manifest
from translations_assets.config.deployment import Costs
from translations_assets.graph.step import Step
from translations_assets.records.cost import Cost
from translations_assets.records.manifest import Usage, Worker
from translations_assets.running.prices import Prices, spent_on


def test_attempts_that_were_lost_are_paid_too_at_the_price_of_the_machine_that_made_it() -> None:
    gpu = {"price": 3, "spot-price": 1, "watts": 500}
    prices = Prices(Costs.model_validate({"worker-classes": {"gpu": gpu}}), None, lambda stage: "")
    step = Step("pipeline.x", "train", "train_teacher", {}, {}, ("model.npz",), worker="gpu")
    usage = Usage(seconds=3600.0, cpu_seconds=9000.0, gpus=2, earlier_seconds=1800.0)
    made = replace(manifest({}), usage=usage)
    for machine, money in (("spot", 1.5), ("standard", 4.5)):
        worker = Worker(gpus=2, others={"machine": machine})
        one = replace(made, provenance=replace(made.provenance, worker=worker))
        assert spent_on(step, one, prices) == Cost(5400.0, 0.0, 10800.0, money, 0.75)
        assert spent_on(step, one, None) == Cost(5400.0, 0.0, 10800.0)
