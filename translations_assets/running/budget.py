"""A run's budget: what it may spend, and what it has spent."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from translations_assets.graph.step import Step
from translations_assets.records.manifest import Manifest
from translations_assets.records.run import Expected
from translations_assets.running.prices import Prices


@dataclass
class Budget:
    """Lets attempts begin as long as what was spent, what runs, and their step itself stay within a limit.

    Every attempt is charged with the time that its script had its machine, whatever came of it. A step is
    counted with its forecast while it runs; one that goes on where it was, with what is left of that. One
    without a forecast may begin as long as anything is left. Safe for use by several threads.

    limit  in the currency of the prices
    spent  by attempts that have ended
    """

    limit: float
    prices: Prices
    spent: float = 0.0
    _left: dict[Step, float] = field(default_factory=dict)  # of the forecasts of steps that have begun
    _running: dict[Step, float | None] = field(default_factory=dict)  # since when they have their machine
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, step: Step, forecast: Mapping[str, Expected]) -> str:
        """Count an attempt of a step that is to begin. Why it may not; empty when it may.

        `forecast` is by label.
        """
        whole = forecast.get(step.label, Expected()).money
        with self._lock:
            expected = self._left.setdefault(step, whole)
            total = self.spent + sum(self._left[other] for other in self._running) + expected
            if self.spent >= self.limit:
                return f"the run's budget of {self._shown(self.limit)} is spent: {self._shown(self.spent)}"
            if expected and total > self.limit:
                return (
                    f"with it the run would have cost about {self._shown(total)}, and its budget is "
                    f"{self._shown(self.limit)}: {self._shown(self.spent)} are spent, it takes "
                    f"{self._shown(expected)}"
                )
            self._running[step] = None
            return ""

    def start(self, step: Step, now: float) -> None:
        """An attempt that has begun has got its machine; `now` are a clock's seconds."""
        with self._lock:
            self._running[step] = now

    def end(self, step: Step, now: float, made: Manifest | None) -> None:
        """Charge an attempt with the time that it had its machine; `made` is what it made, if anything."""
        with self._lock:
            since = self._running.pop(step, None)
            money = self._money(step, since, now, made)
            self.spent += money
            if step.resumable:
                self._left[step] = max(0.0, self._left.get(step, 0.0) - money)

    def until(self, now: float) -> float:
        """What is spent with the attempts that run."""
        with self._lock:
            running = (self._money(step, since, now, None) for step, since in self._running.items())
            return self.spent + sum(running)

    def _money(self, step: Step, since: float | None, now: float, made: Manifest | None) -> float:
        return 0.0 if since is None else self.prices.bill(step, now - since, made).money

    def _shown(self, money: float) -> str:
        return f"{money:,.2f} {self.prices.currency}"
