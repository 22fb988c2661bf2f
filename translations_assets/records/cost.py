"""The cost of steps, which adds up, and its words for people."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from translations_assets.records.checked import Record

HOUR = 3600.0
PAID = ("tokens_read", "tokens_written", "characters")  # what services charge for


@dataclass(frozen=True)
class Cost(Record):
    """The cost of a step or of several: forecast, or of the attempts that were made.

    seconds         by the clock, one step after another
    cpu_seconds     of processors, of steps without GPUs
    gpu_seconds     by the clock, times the GPUs
    money           by the deployment's prices, in their currency; 0 where there are none
    kwh             the same for energy
    tokens_read     of the model of a service, which is paid by tokens
    tokens_written
    characters      of a text that a service translates which is paid by them
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    gpu_seconds: float = 0.0
    money: float = 0.0
    kwh: float = 0.0
    tokens_read: float = 0.0
    tokens_written: float = 0.0
    characters: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """The cost as JSON values, without tokens and characters where there are none."""
        return {name: value for name, value in super().to_dict().items() if value or name not in PAID}

    def __add__(self, other: Cost) -> Cost:
        return self._each(other, operator.add)

    def times(self, factor: float) -> Cost:
        """So many times as much."""
        return Cost(*(value * factor for value in vars(self).values()))

    def with_text(self, factor: float, start: Cost) -> Cost:
        """The cost of so many times as much text; the cost of the start does not grow."""
        fixed = self._each(start, min)
        return self.times(factor) + fixed.times(1 - factor)

    def at_no_text(self, larger: Cost, factor: float) -> Cost:
        """Extrapolate to no text, from the cost with so many times as much text."""
        return self._each(
            larger, lambda one, other: min(one, max(0.0, (one * factor - other) / (factor - 1)))
        )

    @property
    def values(self) -> dict[str, float]:
        """Hours by the clock, of processors and of GPUs, money and kWh, by their names in JSON outputs; and
        tokens and characters, where there are any.
        """
        values = {
            "hours": self.seconds / HOUR,
            "cpu_hours": self.cpu_seconds / HOUR,
            "gpu_hours": self.gpu_seconds / HOUR,
            "money": self.money,
            "kwh": self.kwh,
        }
        values |= {name: paid for name in PAID if (paid := vars(self)[name])}
        return {name: round(value, 6) for name, value in values.items()}

    def _each(self, other: Cost, found: Callable[[float, float], float]) -> Cost:
        return Cost(*map(found, vars(self).values(), vars(other).values()))


def duration(seconds: float) -> str:
    """Seconds for people, two digits at least: `40 s`, `12 min`, `7.5 h`, `412 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    hours = seconds / HOUR
    return f"{hours:.1f} h" if hours < 10 else f"{hours:.0f} h"


def amount(value: float) -> str:
    """Money or energy for people: `0.04`, `3.2`, `1,200`."""
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:,.0f}"
