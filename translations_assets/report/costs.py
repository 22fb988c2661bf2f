"""Costs of results, by stage, by worker class and by model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from translations_assets.graph.graph import Graph
from translations_assets.graph.step import Step
from translations_assets.results.evaluations import model_of, parameters_of
from translations_assets.results.known import Known
from translations_assets.running.prices import Prices, class_of
from translations_assets.why.costs import Spent, spent_on, total

if TYPE_CHECKING:
    from translations_assets.config.deployment import Kubernetes


@dataclass(frozen=True)
class StageCost:
    """Cost of the attempts that made a stage's results, by the prices that are known."""

    stage: str
    steps: int
    spent: Spent


@dataclass(frozen=True)
class ModelCost:
    """Cost of a model.

    own      the step that made it, or the steps, of an ensemble
    whole    with all that it was made from: text, vocabularies, the models before it
    lacking  how many of these steps have no result any more: what they took is not known
    """

    model: str
    own: Spent
    whole: Spent
    lacking: int


def stage_costs(graph: Graph, results: Mapping[str, Known], prices: Prices | None) -> Iterator[StageCost]:
    """Of each stage that has results."""
    for stage, steps in graph.stages.items():
        made = [results[step.label] for step in steps if step.label in results]
        if made:
            yield StageCost(stage, len(made), _spent(made, prices))


def class_costs(
    results: Mapping[str, Known], prices: Prices | None, kubernetes: Kubernetes | None
) -> dict[str, Spent]:
    """Worker class on which steps run → what their results took."""
    found: dict[str, Spent] = {}
    for known in results.values():
        name = class_of(known.step, kubernetes)
        found[name] = found.get(name, Spent()) + spent_on(*known, prices)
    return found


def model_costs(graph: Graph, results: Mapping[str, Known], prices: Prices | None) -> Iterator[ModelCost]:
    """Of each model that is made, in the order in which they are evaluated."""
    for model, makers in _makers(graph).items():
        if all(step.label in results for step in makers):
            before = graph.step_closure(makers)
            known = [results[step.label] for step in before if step.label in results]
            own = [results[step.label] for step in makers]
            yield ModelCost(model, _spent(own, prices), _spent(known, prices), len(before) - len(known))


def _makers(graph: Graph) -> dict[str, Collection[Step]]:
    """Model → the steps that leave its parameters; without those that it is compared with."""
    found: dict[str, dict[Step, None]] = {}
    for step in graph.steps:
        if step.stage.startswith("evaluate_"):
            for made in parameters_of(step):
                found.setdefault(model_of(step), {})[made.step] = None
    return {model: list(steps) for model, steps in found.items()}


def _spent(made: Iterable[Known], prices: Prices | None) -> Spent:
    return total(spent_on(*known, prices) for known in made)
