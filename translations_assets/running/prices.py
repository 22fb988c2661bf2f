"""Costs of steps' time, in money and energy, by the prices of the deployment file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from translations_assets.config.deployment import Costs, Kubernetes, WorkerClassName
    from translations_assets.graph.step import WorkerClass
    from translations_assets.records.manifest import Manifest

HOUR = 3600.0
WATT_HOURS = 3.6e6  # watt seconds in a kilowatt hour


class Needs(Protocol):
    """A step, as far as it says on what machine it runs."""

    @property
    def stage(self) -> str:
        """Its stage."""

    @property
    def worker(self) -> WorkerClass:
        """The worker class that it asks for."""


class RecordedStep(NamedTuple):
    """A step, as far as the record of a run says on what machine it ran."""

    stage: str
    worker: Any


def class_of(step: Needs, kubernetes: Kubernetes | None) -> WorkerClassName:
    """The worker class on which a step runs; on one's own machine that which it asks for."""
    return kubernetes.class_of(step.stage, step.worker) if kubernetes else step.worker


@dataclass(frozen=True)
class Bill:
    """Money, in the deployment's currency, and energy."""

    money: float = 0.0
    kwh: float = 0.0

    def __add__(self, other: Bill) -> Bill:
        return Bill(self.money + other.money, self.kwh + other.kwh)


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

    def bill(self, step: Needs, seconds: float, made: Manifest | None = None) -> Bill:
        """Compute the cost of a step's seconds, on the kind of machine where it was made, if it was."""
        name = class_of(step, self.kubernetes)
        rate = self.costs.worker_classes.get(name)
        if rate is None:
            return Bill()
        price = rate.price
        if rate.spot_price is not None and self._machine(name, step, made) == "spot":
            price = rate.spot_price
        return Bill(price * seconds / HOUR, rate.watts * seconds / WATT_HOURS)

    def without(self, steps: Iterable[Needs]) -> list[WorkerClassName]:
        """The worker classes of steps that have no price."""
        names = {class_of(step, self.kubernetes) for step in steps}
        return sorted(names - self.costs.worker_classes.keys())

    def _machine(self, name: WorkerClassName, step: Needs, made: Manifest | None) -> str:
        worker = made.provenance.worker if made else None
        if worker and (machine := worker.others.get("machine")):
            return str(machine)
        worker_class = self.kubernetes.worker_classes.get(name) if self.kubernetes else None
        return worker_class.machine_for(self.asked(step.stage)) if worker_class else "standard"
