"""A run's budget: what it may spend, and what it has spent."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from translations_assets.graph.step import Step
from translations_assets.records.manifest import Manifest
from translations_assets.running.prices import Prices


@dataclass
class Budget:
    """Lets steps begin as long as what was spent, what runs, and they themselves stay within a limit.

    A step is counted with its forecast while it runs, and with what it took once it is made. One without a
    forecast may always begin. Attempts that failed are not counted. Safe for use by several threads.

    limit  in the currency of the prices
    """

    limit: float
    prices: Prices
    spent: float = 0.0
    _running: dict[Step, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, step: Step, forecast: Mapping[str, float]) -> str:
        """Count a step that is to begin. Why it may not; empty when it may.

        `forecast` has seconds by label.
        """
        expected = self.prices.bill(step, forecast.get(step.label, 0.0)).money
        with self._lock:
            total = self.spent + sum(self._running.values()) + expected
            if expected and total > self.limit:
                return (
                    f"with it the run would have cost about {self._shown(total)}, and its budget is "
                    f"{self._shown(self.limit)}: {self._shown(self.spent)} are spent, it takes "
                    f"{self._shown(expected)}"
                )
            self._running[step] = expected
            return ""

    def end(self, step: Step, made: Manifest | None) -> None:
        """Count what a step took that has ended; None when it has made nothing."""
        with self._lock:
            if self._running.pop(step, None) is not None and made:
                self.spent += self.prices.bill(step, made.usage.seconds, made).money

    def _shown(self, money: float) -> str:
        return f"{money:,.2f} {self.prices.currency}"
