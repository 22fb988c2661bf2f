"""Tests of the prices of machines."""

from dataclasses import replace

import pytest

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


@pytest.mark.parametrize("script", ["pipeline.translate.ask", "pipeline.eval.judge"])
def test_the_tokens_of_a_service_are_paid_once_for_all_attempts(script: str) -> None:
    costs = {"worker-classes": {"cpu": {"price": 0.5}}, "models": {"llm": {"read": 2, "written": 8}}}
    prices = Prices(Costs.model_validate(costs), None, lambda stage: "")
    args = {"model": "llm"}
    step = Step(script, "ask", "translate_mono_src", args, {}, ("answers.zst",))
    usage = Usage(3600.0, earlier_seconds=3600.0, tokens_read=3_000_000, tokens_written=500_000)
    made = replace(manifest({}), usage=usage)
    parts = replace(made.provenance.parts, script=step.script, args=args)
    made = replace(made, provenance=replace(made.provenance, parts=parts))
    cost = spent_on(step, made, prices)
    assert cost == Cost(7200.0, 0.0, 0.0, 1.0 + 6.0 + 4.0, 0.0, 3_000_000, 500_000)
    assert cost.values["tokens_read"] == 3_000_000
    other = replace(step, args={"model": "free"})
    assert prices.priced(other, Cost(0.0, tokens_read=1e6)).money == 0.0
    assert Usage.from_dict(usage.to_dict()) == usage
    assert "tokens_read" not in Usage(1.0).to_dict()
    assert "tokens_read" not in Cost(1.0).values


def test_the_characters_of_a_company_are_paid() -> None:
    costs = {"worker-classes": {"cpu": {"price": 0}}, "models": {"google": {"characters": 20}}}
    prices = Prices(Costs.model_validate(costs), None, lambda stage: "")
    args = {"service": "google", "src": "en", "trg": "ru"}
    step = Step("pipeline.translate.ask_commercial", "ask", "translate_mono_src", args, {}, ("answers.zst",))
    cost = prices.priced(step, Cost(60.0, characters=2_500_000))
    assert cost.money == 50.0
    assert cost.values["characters"] == 2_500_000
    assert "tokens_read" not in cost.values
    usage = Usage(60.0, characters=7)
    assert Usage.from_dict(usage.to_dict()) == usage
    assert replace(manifest({}), usage=usage).cost.characters == 7
    assert "characters" not in Usage(1.0).to_dict()
    assert prices.priced(replace(step, args={"service": "microsoft"}), cost).money == 0
