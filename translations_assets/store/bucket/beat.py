"""Threads that do something again and again while there is a need for it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

_log = logging.getLogger(__name__)


class Beat:
    """Does each action again and again in a thread of its own, so that none waits for another.

    One that fails is done again in the next round. The threads end by themselves once nothing is needed, and
    begin again with `start`.

    needed  whether to go on; asked before each round, and must not wait
    """

    def __init__(self, seconds: float, needed: Callable[[], bool], *actions: Callable[[], None]) -> None:
        self._seconds, self._needed, self._actions = seconds, needed, actions
        self._guard = threading.Lock()
        self._running: set[Callable[[], None]] = set()

    def start(self) -> None:
        """Have the threads run, now that there is a need."""
        with self._guard:
            for action in self._actions:
                if action not in self._running:
                    self._running.add(action)
                    threading.Thread(target=self._run, args=(action,), name="leases", daemon=True).start()

    def _run(self, action: Callable[[], None]) -> None:
        try:
            while self._goes_on(action):
                time.sleep(self._seconds)
                try:
                    action()
                except Exception:  # what nobody has foreseen must not end it: leases would lapse
                    _log.exception("What is done every %g s failed, and is tried again.", self._seconds)
        finally:
            self._running.discard(action)

    def _goes_on(self, action: Callable[[], None]) -> bool:
        with self._guard:  # a need that comes now finds this thread running, or starts another
            if not self._needed():
                self._running.discard(action)
                return False
            return True
