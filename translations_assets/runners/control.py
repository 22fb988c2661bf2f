"""What reaches a worker from outside: SIGTERM, the end of its orchestrator, the end of its script."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType


class Control:
    """Waits for whatever comes first; `stop` says why the worker shall end, and is empty until it shall.

    keeping  set by the worker once the script has ended and its result is being stored, which nothing ends
    lost     why the step is not ours any more; empty while it is
    """

    def __init__(self) -> None:
        self.stop = self.lost = ""
        self._signal = ""
        self.keeping = False
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
        """Wait for a signal, a child's end or `end`, at most so long."""
        if self._poll.poll(seconds * 1000):
            os.read(self._wake, 4096)

    def next_job(self) -> None:
        """Forget what ended the job before, unless it was a signal: that is for all jobs."""
        self.stop, self.lost, self.keeping = self._signal, "", False

    def end(self, reason: str) -> None:
        """Have the worker end, from any thread."""
        self.stop = self.stop or reason
        os.write(self._wake_up, b"\0")

    def lose(self, reason: str) -> None:
        """Have the worker end because the step is not ours any more, from any thread."""
        self.lost = self.lost or reason
        self.end(reason)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self._signal = f"{signal.Signals(number).name} from outside"
        self.stop = self.stop or self._signal
