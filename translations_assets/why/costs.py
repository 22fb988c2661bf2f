"""Costs of finished steps, in hours, money and energy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from translations_assets.records.manifest import Manifest
from translations_assets.running.prices import HOUR, Bill, Needs, Prices
from translations_assets.why.history import Cost, cost_of


@dataclass(frozen=True)
class Spent:
    """Time, and money and energy as far as there are prices."""

    cost: Cost = field(default_factory=Cost)
    bill: Bill = field(default_factory=Bill)

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.cost + other.cost, self.bill + other.bill)

    @property
    def values(self) -> dict[str, float]:
        """Hours, of processors, of GPUs those times the GPUs; money, kWh: under names that stay."""
        hours = {
            "hours": self.cost.seconds,
            "cpu_hours": self.cost.cpu_seconds,
            "gpu_hours": self.cost.gpu_seconds,
        }
        values = {name: seconds / HOUR for name, seconds in hours.items()} | asdict(self.bill)
        return {name: round(value, 6) for name, value in values.items()}


def spent_on(step: Needs, made: Manifest, prices: Prices | None) -> Spent:
    """Return the cost of a step's result, by the prices of today."""
    cost = cost_of(made)
    return Spent(cost, prices.bill(step, cost.seconds, made) if prices else Bill())


def total(spent: Iterable[Spent]) -> Spent:
    """All of it together."""
    return sum(spent, Spent())
