"""Costs of steps' time, in money and energy, by the prices of the deployment file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from translations_assets.records.cost import HOUR, Cost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from translations_assets.config.deployment import ClusterSection, Costs, WorkerClassName
    from translations_assets.graph.step import Step
    from translations_assets.records.manifest import Manifest

# The scripts that ask a service
ASKING = frozenset(("pipeline.translate.ask", "pipeline.translate.ask_commercial", "pipeline.eval.judge"))
MANY = 1e6  # tokens, or characters, that prices are of
WATT_HOURS = 3.6e6  # watt seconds in a kilowatt hour


class RecordedStep(NamedTuple):
    """A step, as far as the record of a run says on what machine it ran."""

    stage: str
    worker: Any
    script: str = ""
    args: Mapping[str, Any] = {}


def class_of(step: Step | RecordedStep, cluster: ClusterSection | None) -> WorkerClassName:
    """The worker class on which a step runs; on one's own machine that which it asks for."""
    return cluster.class_of(step.stage, step.worker) if cluster else step.worker


def model_asked(step: Step | RecordedStep, made: Manifest | None = None) -> str:
    """The model of a service, or the service, that a step asks, or asked; empty for a step that asks none."""
    asking = made.provenance.parts if made else step
    return str(asking.args.get("model") or asking.args["service"]) if asking.script in ASKING else ""


@dataclass(frozen=True)
class Prices:
    """The prices of machines and services.

    cluster  the cluster that has them; None on one's own machine
    asked       the kind of machine that is asked for a stage, `spot` or `standard`; empty when none is
    """

    costs: Costs
    cluster: ClusterSection | None
    asked: Callable[[str], str]

    @property
    def currency(self) -> str:
        """Of all money."""
        return self.costs.currency

    def priced(self, step: Step | RecordedStep, cost: Cost, made: Manifest | None = None) -> Cost:
        """Return a step's cost with money and energy, on the kind of machine where it was made, if it was."""
        name = class_of(step, self.cluster)
        rate = self.costs.worker_classes.get(name)
        service = self._of_service(step, cost, made)
        if rate is None:
            return replace(cost, money=service) if service else cost
        price = rate.price
        if rate.spot_price is not None and self._machine(name, step, made) == "spot":
            price = rate.spot_price
        money = price * cost.seconds / HOUR + service
        return replace(cost, money=money, kwh=rate.watts * cost.seconds / WATT_HOURS)

    def _of_service(self, step: Step | RecordedStep, cost: Cost, made: Manifest | None) -> float:
        """The price of what a step asks of a service."""
        price = self.costs.models.get(model_asked(step, made))
        if price is None:
            return 0.0
        tokens = price.read * cost.tokens_read + price.written * cost.tokens_written
        return (tokens + price.characters * cost.characters) / MANY

    def without(self, steps: Iterable[Step]) -> list[WorkerClassName]:
        """The worker classes of steps that have no price."""
        names = {class_of(step, self.cluster) for step in steps}
        return sorted(names - self.costs.worker_classes.keys())

    def _machine(self, name: WorkerClassName, step: Step | RecordedStep, made: Manifest | None) -> str:
        worker = made.provenance.worker if made else None
        if worker and (machine := worker.others.get("machine")):
            return str(machine)
        worker_class = self.cluster.worker_classes.get(name) if self.cluster else None
        return worker_class.machine_for(self.asked(step.stage)) if worker_class else "standard"


def spent_on(step: Step | RecordedStep, made: Manifest, prices: Prices | None) -> Cost:
    """Return the cost of a step's result, by the prices of today."""
    return prices.priced(step, made.cost, made) if prices else made.cost
