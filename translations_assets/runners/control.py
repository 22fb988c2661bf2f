"""What reaches a worker from outside: SIGTERM, the end of its orchestrator, the end of its script."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType


class Control:
    """Waits for whatever comes first; `stop` says why the worker shall end, and is empty until it shall.

    life_line  descriptor that is closed at its other end when the orchestrator ends; None without one
    """

    def __init__(self, life_line: int | None) -> None:
        self.stop = ""
        self._life_line = life_line
        self._wake, wake_up = os.pipe()
        for end in (self._wake, wake_up):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake_up, warn_on_full_buffer=False)
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # wakes `wait`
        self._poll = select.poll()
        self._poll.register(self._wake, select.POLLIN)
        if life_line is not None:
            self._poll.register(life_line, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Wait for a signal, a child's end or the orchestrator's end, at most so long."""
        for descriptor, _ in self._poll.poll(seconds * 1000):
            if descriptor == self._wake:
                os.read(self._wake, 4096)
            elif not os.read(descriptor, 4096):
                self._poll.unregister(descriptor)
                self.stop = self.stop or "its orchestrator ended"

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        self.stop = self.stop or f"{signal.Signals(number).name} from outside"
