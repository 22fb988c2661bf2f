"""Sizes of models, their speed in the engine, and the cost of all results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from translations_assets.diff.evaluations import Evaluations
from translations_assets.diff.sides import Side
from translations_assets.records.cost import Cost
from translations_assets.results.scores import Speed
from translations_assets.running.prices import Prices, RecordedStep, spent_on


@dataclass(frozen=True)
class SizeAndSpeed:
    """Bytes of a model's parameters, and, if it was timed, its speed on its first test set."""

    size: int | None
    speed: Speed | None


@dataclass(frozen=True)
class NeedsChange:
    """The needs of a model that both sides have; a side may know less of it."""

    model: str
    old: SizeAndSpeed
    new: SizeAndSpeed


@dataclass(frozen=True)
class CostChange:
    """What the results of a stage took, whoever made them; `stage` is empty for the sum of all stages."""

    stage: str
    old: Cost
    new: Cost


def compare_needs(old: Evaluations, new: Evaluations) -> list[NeedsChange]:
    """Compare the sizes and speeds of the models that both sides have evaluated."""
    before, after = _needs(old), _needs(new)
    return [
        NeedsChange(model, before[model], found)
        for model, found in after.items()
        if model in before and before[model] != found
    ]


def _needs(evaluations: Evaluations) -> dict[str, SizeAndSpeed]:
    found: dict[str, SizeAndSpeed] = {}
    for tested, evaluation in evaluations.items():
        known = found.get(tested.model, SizeAndSpeed(None, None))
        found[tested.model] = SizeAndSpeed(
            known.size or evaluation.size, known.speed or evaluation.scores.speed
        )
    return found


def compare_costs(old: Side, new: Side, prices: Prices | None) -> list[CostChange]:
    """Compare the cost of all results, and of each stage's, where it differs; the sum comes first."""
    before, after = (_by_stage(side, prices) for side in (old, new))
    return [*_changes(before, after)]


def _changes(before: Mapping[str, Cost], after: Mapping[str, Cost]) -> Iterator[CostChange]:
    sums = [sum(costs.values(), Cost()) for costs in (before, after)]
    if sums[0] != sums[1]:
        yield CostChange("", *sums)
    for stage in dict.fromkeys([*after, *before]):
        costs = before.get(stage, Cost()), after.get(stage, Cost())
        if costs[0] != costs[1]:
            yield CostChange(stage, *costs)


def _by_stage(side: Side, prices: Prices | None) -> dict[str, Cost]:
    found: dict[str, Cost] = {}
    for label, made in side.results.items():
        step = side.graph.by_label.get(label) if side.graph else None
        worker = side.workers.get(label) or (step.worker if step else "cpu")
        cost = spent_on(RecordedStep(made.stage, worker), made, prices)
        found[made.stage] = found.get(made.stage, Cost()) + cost
    return found
