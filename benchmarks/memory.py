"""Memory of a process."""

from __future__ import annotations

import threading

import psutil


class Peak:
    """The largest memory of a process and its children together, looked at 20 times a second.

    Pages that several processes share count once (proportional set size), as far as the kernel tells.
    """

    def __init__(self, pid: int) -> None:
        self.megabytes = 0.0
        self._process = psutil.Process(pid)
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def stop(self) -> None:
        """Look no longer."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(0.05):
            self.megabytes = max(self.megabytes, self._now() / 1e6)

    def _now(self) -> int:
        total = 0
        try:
            for process in (self._process, *self._process.children(recursive=True)):
                total += process.memory_full_info().pss
        except psutil.Error:
            pass
        return total
