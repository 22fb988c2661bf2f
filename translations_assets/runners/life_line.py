"""The tie between a worker and its orchestrator, and what becomes of a worker whose orchestrator left."""

from __future__ import annotations

import os
from collections.abc import Callable

from translations_assets.background import CLOCK, Clock, Repeating
from translations_assets.errors import StoreError
from translations_assets.runners.control import Control

LOOK_SECONDS = 1.0
KEEPING_SECONDS = 6.5  # after which an orchestrator is not kept waiting for what is being stored


class LifeLine:
    """Watches a pipe whose other end only the orchestrator holds, who closes it to cancel, or by ending.

    The step then goes on as long as another run waits for it, and `detached` is called; else the worker is
    told to end. A result that is being stored is stored in any case.

    descriptor  our end of the pipe
    waiters     how many runs wait for the step
    report      gets what goes wrong with watching, in words
    """

    def __init__(
        self,
        descriptor: int,
        control: Control,
        waiters: Callable[[], int],
        detached: Callable[[], None],
        report: Callable[[str], object],
        clock: Clock = CLOCK,
    ) -> None:
        self._descriptor, self._control, self._clock = descriptor, control, clock
        self._waiters, self._detached = waiters, detached
        self._left = 0.0  # when the orchestrator let go
        self._said = False  # that the worker need not be waited for
        self._repeating = Repeating("life line", self._look, LOOK_SECONDS, report, clock=clock)

    def start(self) -> None:
        """Watch from now on."""
        self._repeating.wake()
        self._repeating.start()

    def _look(self) -> None:
        if not self._left:
            while os.read(self._descriptor, 4096):
                pass
            self._left = self._clock.monotonic()
        if self._goes_on(self._clock.monotonic() - self._left) and not self._said:
            self._detached()
            self._said = True

    def _goes_on(self, seconds: float) -> bool:
        """Whether the worker need not be waited for, so many seconds after its orchestrator let it go."""
        if self._control.keeping:
            return seconds > KEEPING_SECONDS
        if self._control.stop:
            return False
        if not self._is_wanted():
            self._control.end("its orchestrator ended, or the run was cancelled")
            return False
        return True

    def _is_wanted(self) -> bool:
        try:
            return self._waiters() > 0
        except StoreError:  # that is not known now; the next look may tell
            return True
