"""A run's budget: what it may spend, what it has spent, and what happens when that is too much."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from translations_assets.common.errors import StoreError
from translations_assets.graph.step import Step
from translations_assets.records.cost import HOUR, PAID, Cost
from translations_assets.records.manifest import Manifest
from translations_assets.running.prices import Prices
from translations_assets.running.protocols import Store

FRESH_SECONDS = 5.0  # the records of other runs are renewed each minute, and when a step ends


@dataclass
class Budget:
    """Lets attempts begin as long as what was spent, what runs, and their step itself stay within a limit.

    Every attempt is charged with the time that its script had its machine, and with the tokens that it had a
    service read and write, whatever came of it. A step is
    counted with its forecast while it runs; one that goes on where it was, with what is left of that. One
    without a forecast may begin as long as anything is left that is not counted for others; what it takes is
    looked at while it runs. Safe for use by several threads.

    limit    in the currency of the prices
    is_hard  whether what takes more than is left for it is ended
    others   spent so far by other runs that share the budget
    spent    by attempts that have ended
    """

    limit: float
    prices: Prices
    is_hard: bool = False
    others: Callable[[], float] = lambda: 0.0
    spent: float = 0.0
    _left: dict[Step, float] = field(default_factory=dict)  # of the forecasts of steps that have begun
    _running: dict[Step, float | None] = field(default_factory=dict)  # since when they have their machine
    _paid: dict[Step, list[Cost]] = field(default_factory=dict)  # of all attempts: first told, and newest
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, step: Step, forecast: Mapping[str, Cost]) -> str:
        """Count an attempt of a step that is to begin. Why it may not; empty when it may.

        `forecast` is by label.
        """
        whole, others = forecast.get(step.label, Cost()).money, self.others()
        with self._lock:
            expected = self._left.setdefault(step, whole)
            running = sum(self._left[other] for other in self._running)
            spent = self.spent + others
            total = spent + running + expected
            if spent >= self.limit:
                return f"the run's budget of {self._shown(self.limit)} is spent: {self._shown(spent)}"
            if not expected and total >= self.limit:
                return (
                    f"the run's budget of {self._shown(self.limit)} leaves nothing for it: "
                    f"{self._shown(spent)} are spent, and running steps take {self._shown(running)}"
                )
            if expected and total > self.limit:
                return (
                    f"it would raise the run's cost to about {self._shown(total)}, above the budget of "
                    f"{self._shown(self.limit)}: {self._shown(spent)} are spent, and it takes "
                    f"{self._shown(expected)}"
                )
            self._running[step] = None
            return ""

    def start(self, step: Step, now: float) -> None:
        """An attempt that has begun has got its machine; `now` are a clock's seconds."""
        with self._lock:
            self._running[step] = now
            self._paid[step] = []

    def note(self, step: Step, numbers: Mapping[str, Any]) -> None:
        """Take what services charge for from live numbers of an attempt; the first are from before it."""
        if used := {name: numbers[name] for name in PAID if name in numbers}:
            with self._lock:
                self._paid[step] = [*self._paid.get(step, ())[:1], Cost(**used)]

    def end(self, step: Step, now: float, made: Manifest | None) -> None:
        """Charge an attempt with the time that it had its machine; `made` is what it made, if anything."""
        with self._lock:
            since = self._running.pop(step, None)
            money = self._money(step, since, now, made)
            self.spent += money
            if step.resumable:
                self._left[step] = max(0.0, self._left.get(step, 0.0) - money)

    def overdrawn(self, now: float) -> dict[Step, str]:
        """The steps that run and have taken more than is left for them, each with words about that.

        Nothing is left for a step beyond its forecast, once what was spent and what all are to take use the
        limit up.
        """
        others = self.others()
        with self._lock:
            taken = {step: self._money(step, since, now, None) for step, since in self._running.items()}
            total = self.spent + others + sum(max(self._left[step], money) for step, money in taken.items())
            if total <= self.limit:
                return {}
            return {
                step: f"it has cost {self._shown(money)}, more than the run's budget of "
                f"{self._shown(self.limit)} leaves for it"
                for step, money in taken.items()
                if money > self._left[step]
            }

    def an_hour(self, step: Step) -> str:
        """Return the cost of a step for each hour that it runs."""
        return f"{self._shown(self.prices.priced(step, Cost(HOUR)).money)} an hour"

    def told(self) -> str:
        """Say in a sentence how much was spent; call it when nothing runs any more."""
        return spent_of(self.spent + self.others(), self.limit, self.prices.currency)

    def until(self, now: float) -> float:
        """Return the amount spent, with the attempts that run."""
        with self._lock:
            running = (self._money(step, since, now, None) for step, since in self._running.items())
            return self.spent + sum(running)

    def _money(self, step: Step, since: float | None, now: float, made: Manifest | None) -> float:
        if since is None:
            return 0.0
        told = self._paid.get(step) or [Cost()]
        return self.prices.priced(step, Cost(now - since) + told[-1] + told[0].times(-1), made).money

    def _shown(self, money: float) -> str:
        return _shown(money, self.prices.currency)


class SpentByOthers:
    """Money that the other runs of a sweep's run have spent so far, as their records tell."""

    def __init__(self, store: Store, run: str, sweep: str) -> None:
        """Nothing is read for a run that is part of no sweep's."""
        self._store, self._sweep = store, sweep
        self._is_of_it = {run: False}  # as far as it is known
        self._read, self._money = -math.inf, 0.0

    def __call__(self) -> float:
        """Read the records again, unless that was done a moment ago.

        While the store is away, the last known sum counts: no run ends for that.
        """
        if self._sweep and time.monotonic() - self._read > FRESH_SECONDS:
            with suppress(StoreError):
                self._money = sum(self._spent(run) for run in self._store.runs())
            self._read = time.monotonic()  # afterwards, as a bucket that is away takes a minute to say so
        return self._money

    def _spent(self, run: str) -> float:
        record = self._store.read_run(run) if self._is_of_it.get(run, True) else None
        if record is None:
            return 0.0
        self._is_of_it[run] = record.options.sweep == self._sweep
        return record.spent if self._is_of_it[run] else 0.0


class Spending:
    """Cost of the attempts of one call of the engine while they run.

    It is told when the budget is used up; where that is hard, the attempts are ended.

    cancel  of the run
    tell    gets words about a step, once
    """

    def __init__(
        self, budget: Budget | None, cancel: threading.Event, tell: Callable[[Step, str], None]
    ) -> None:
        self._budget, self._cancel, self._tell = budget, cancel, tell
        self._told: set[Step] = set()
        self._stops: dict[Step, threading.Event] = {}
        self._ended: dict[Step, str] = {}

    def stop_of(self, step: Step) -> threading.Event:
        """Return the event that ends an attempt that is to begin: the run's end, or its own."""
        if not (self._budget and self._budget.is_hard):
            return self._cancel
        stop = self._stops[step] = threading.Event()
        self._pass_on()
        return stop

    def why_ended(self, step: Step) -> str:
        """Explain why an attempt was ended for its cost; empty for one that was not."""
        return self._ended.pop(step, "")

    def look(self, now: float) -> bool:
        """Look at what runs; whether attempts have to be woken, as they are to end."""
        self._pass_on()
        if not self._budget:
            return False
        ended = False
        for step, words in self._budget.overdrawn(now).items():
            if stop := self._stops.get(step):
                if not stop.is_set():
                    self._ended[step] = words
                    stop.set()
                    ended = True
            elif step not in self._told and not self._budget.is_hard:
                self._told.add(step)
                self._tell(step, f"{words}. It continues, at {self._budget.an_hour(step)}")
        return ended

    def _pass_on(self) -> None:
        if self._cancel.is_set():
            for stop in list(self._stops.values()):
                stop.set()


def spent_of(spent: float, limit: float, currency: str) -> str:
    """Say in a sentence how much of its budget a run has spent.

    >>> spent_of(2.131, 0.01, "EUR")
    'The run has spent 2.13 EUR, 2.12 EUR more than its budget of 0.01 EUR.'
    """
    said, most = _shown(spent, currency), _shown(limit, currency)
    if spent > limit:
        return f"The run has spent {said}, {_shown(spent - limit, currency)} more than its budget of {most}."
    return f"The run has spent {said} of its budget of {most}."


def _shown(money: float, currency: str) -> str:
    return f"{money:,.2f} {currency}"
