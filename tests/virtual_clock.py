"""A clock that a test moves: what is started runs in the test's thread, when its time has come."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

from translations_assets.common.background import Clock, Join


class VirtualClock(Clock):
    """Nothing happens but while `wait` or `run` is called."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, 0.0
        self.names: list[str] = []
        self._due: list[tuple[float, int, Iterator[float], threading.Event]] = []
        self._numbers = itertools.count()

    def time(self) -> float:
        return 1e9 + self.now

    def monotonic(self) -> float:
        return self.now

    def lasting(self) -> float:
        return self.now + self.slept

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.run(seconds, event)
        return event.is_set()

    def start(self, name: str, work: Iterator[float], wake: threading.Event) -> Join:
        self.names.append(name)
        self._due.append((self.now, next(self._numbers), work, wake))
        return lambda seconds: None

    def pool(self, size: int, name: str) -> Executor:
        return _Inline()

    def run(self, seconds: float, until: threading.Event | None = None) -> None:
        """Let time pass: everything that is due meanwhile is done, in order."""
        end = self.now + seconds
        while not (until and until.is_set()):
            woken = [item for item in self._due if item[3].is_set()]
            due = min(woken, default=min(self._due, default=None))
            if due is None or (due[0] > end and not woken):
                self.now = end
                return
            self._due.remove(due)
            self.now = self.now if woken else max(self.now, due[0])
            self._go_on(*due[2:])

    def _go_on(self, work: Iterator[float], wake: threading.Event) -> None:
        pause = next(work, None)
        if pause is not None:
            self._due.append((self.now + pause, next(self._numbers), work, wake))


class _Inline(Executor):
    """Does a call where it is submitted."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future
