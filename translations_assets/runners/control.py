"""Signals that reach a worker: SIGTERM, the end of its orchestrator, the end of its script."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from types import FrameType

from translations_assets.common.background import CLOCK, Clock, Repeating
from translations_assets.common.errors import StoreError

CHECK_SECONDS = 1.0
COMMIT_SECONDS = 6.5  # after which an orchestrator need not wait for what is being stored


class Control:
    """Waits for whatever comes first.

    cancelled   why the worker shall end; empty until it shall
    lease_lost  why the step is not this worker's any more; empty while it is
    committing  set once the script has ended and its result is being stored, which nothing ends
    """

    def __init__(self) -> None:
        self.cancelled = self.lease_lost = ""
        self._signal = ""
        self.committing = False
        self._wake, self._wake_up = os.pipe()
        for end in (self._wake, self._wake_up):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self._wake_up, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # wakes `wait`
        self._poll = select.poll()
        self._poll.register(self._wake, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Wait for a signal, a child's end or `cancel`, at most so long."""
        if self._poll.poll(seconds * 1000):
            os.read(self._wake, 4096)

    def next_job(self) -> None:
        """Forget what ended the job before, unless it was a signal: that is for all jobs."""
        self.cancelled, self.lease_lost, self.committing = self._signal, "", False

    def cancel(self, reason: str) -> None:
        """Have the worker end, from any thread."""
        self.cancelled = self.cancelled or reason
        os.write(self._wake_up, b"\0")

    def lose_lease(self, reason: str) -> None:
        """Have the worker end because the step is not its own any more, from any thread."""
        self.lease_lost = self.lease_lost or reason
        self.cancel(reason)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._signal = f"{signal.Signals(number).name} from outside"
        self.cancelled = self.cancelled or self._signal


class LifeLine:
    """Watches a pipe whose other end only the orchestrator holds, which closes it to cancel, or by ending.

    The step then goes on as long as another run waits for it, and `detached` is called; else the worker is
    told to end. A result that is being stored is stored in any case.

    descriptor  the worker's end of the pipe
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
        self._closed = 0.0  # when the orchestrator closed its end
        self._reported = False  # that the worker need not be waited for
        self._repeating = Repeating("life line", self._check, CHECK_SECONDS, report, clock=clock)

    def start(self) -> None:
        """Watch from now on."""
        self._repeating.wake()
        self._repeating.start()

    def _check(self) -> None:
        if not self._closed:
            while os.read(self._descriptor, 4096):
                pass
            self._closed = self._clock.monotonic()
        if self._may_detach(self._clock.monotonic() - self._closed) and not self._reported:
            self._detached()
            self._reported = True

    def _may_detach(self, seconds: float) -> bool:
        """True if the worker need not be waited for, so many seconds after the pipe was closed."""
        if self._control.committing:
            return seconds > COMMIT_SECONDS
        if self._control.cancelled:
            return False
        try:
            wanted = self._waiters() > 0
        except StoreError:  # that is not known now; the next look may tell
            return True
        if not wanted:
            self._control.cancel("its orchestrator ended, or the run was cancelled")
        return wanted
