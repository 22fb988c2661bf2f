"""Cost of attempts while they run: reported when the budget is used up, and ended where it is hard."""

from __future__ import annotations

import threading
from collections.abc import Callable

from translations_assets.graph.step import Step
from translations_assets.running.budget import Budget


class Spending:
    """The attempts of one call of the engine.

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
