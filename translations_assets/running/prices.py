"""Costs of steps' time, in money and energy, by the prices of the deployment file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from translations_assets.records.cost import HOUR, Cost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from translations_assets.config.deployment import Costs, Kubernetes, WorkerClassName
    from translations_assets.graph.step import Step
    from translations_assets.records.manifest import Manifest

WATT_HOURS = 3.6e6  # watt seconds in a kilowatt hour


class RecordedStep(NamedTuple):
    """A step, as far as the record of a run says on what machine it ran."""

    stage: str
    worker: Any


def class_of(step: Step | RecordedStep, kubernetes: Kubernetes | None) -> WorkerClassName:
    """The worker class on which a step runs; on one's own machine that which it asks for."""
    return kubernetes.class_of(step.stage, step.worker) if kubernetes else step.worker


@dataclass(frozen=True)
class Prices:
    """The prices of machines.

    kubernetes  the cluster that has them; None on one's own machine
    asked       the kind of machine that is asked for a stage, `spot` or `standard`; empty when none is
    """

    costs: Costs
    kubernetes: Kubernetes | None
    asked: Callable[[str], str]

    @property
    def currency(self) -> str:
        """Of all money."""
        return self.costs.currency

    def priced(self, step: Step | RecordedStep, cost: Cost, made: Manifest | None = None) -> Cost:
        """Return a step's cost with money and energy, on the kind of machine where it was made, if it was."""
        name = class_of(step, self.kubernetes)
        rate = self.costs.worker_classes.get(name)
        if rate is None:
            return cost
        price = rate.price
        if rate.spot_price is not None and self._machine(name, step, made) == "spot":
            price = rate.spot_price
        return replace(cost, money=price * cost.seconds / HOUR, kwh=rate.watts * cost.seconds / WATT_HOURS)

    def without(self, steps: Iterable[Step]) -> list[WorkerClassName]:
        """The worker classes of steps that have no price."""
        names = {class_of(step, self.kubernetes) for step in steps}
        return sorted(names - self.costs.worker_classes.keys())

    def _machine(self, name: WorkerClassName, step: Step | RecordedStep, made: Manifest | None) -> str:
        worker = made.provenance.worker if made else None
        if worker and (machine := worker.others.get("machine")):
            return str(machine)
        worker_class = self.kubernetes.worker_classes.get(name) if self.kubernetes else None
        return worker_class.machine_for(self.asked(step.stage)) if worker_class else "standard"


def spent_on(step: Step | RecordedStep, made: Manifest, prices: Prices | None) -> Cost:
    """Return the cost of a step's result, by the prices of today."""
    return prices.priced(step, made.cost, made) if prices else made.cost
