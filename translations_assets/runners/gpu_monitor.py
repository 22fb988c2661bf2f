"""How busy a step's GPUs are, and what they are, as nvidia-smi tells it now and then."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence

FIRST_SAMPLE = 1.0  # seconds after the start
SAMPLE_SECONDS = 10.0
_FIELDS = ("name", "driver_version", "utilization.gpu", "memory.used")
_MEGABYTE = 1 << 20


class GpuMonitor:
    """Mean utilisation (0 to 1) of some GPUs, peak memory in bytes of all of them together, and their names.

    These are NVML's numbers, asked for in a process of their own: a driver that hangs would hang what
    calls the library, and a worker has to hear SIGTERM and store what its script saves. Nothing waits for
    nvidia-smi, which may take seconds: its answer is read when it is there.
    """

    def __init__(self, ids: Sequence[str]) -> None:
        fields, gpus = ",".join(_FIELDS), ",".join(ids)
        self._command = ["nvidia-smi", "-i", gpus, f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
        self._next = time.monotonic() + FIRST_SAMPLE if ids else float("inf")
        self._asked: subprocess.Popen[str] | None = None
        self._utilisations: list[float] = []
        self.peak_memory = 0
        self.models: list[str] = []
        self.driver = ""

    @property
    def utilisation(self) -> float:
        """The mean of all samples of all GPUs, 0 when there is none."""
        return sum(self._utilisations) / max(1, len(self._utilisations))

    def sample(self) -> None:
        """Ask when it is time to; take the answer when it is there."""
        if self._asked is not None:
            if self._asked.poll() is not None:
                answer, _ = self._asked.communicate()
                self._asked = None
                self._read(answer)
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + SAMPLE_SECONDS
            self._ask()

    def end(self) -> None:
        """Leave no process behind."""
        if self._asked is not None:
            self._asked.kill()
            self._asked.communicate()

    def _ask(self) -> None:
        try:
            self._asked = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except OSError:  # it is not here: nothing is measured
            self._next = float("inf")

    def _read(self, answer: str) -> None:
        rows = [line.split(", ") for line in answer.splitlines()]
        try:
            self.driver, self.models = rows[0][1], [row[0] for row in rows]
            self.peak_memory = max(self.peak_memory, sum(int(row[3]) * _MEGABYTE for row in rows))
            self._utilisations += [float(row[2]) / 100 for row in rows]
        except (ValueError, IndexError):  # "[N/A]", or an error in place of an answer
            return
