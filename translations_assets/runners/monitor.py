"""What a script uses while it runs: memory and disk, sampled; its live numbers, handed on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from translations_assets.runners.secrets import Redaction
from translations_assets.runners.work_folder import WorkFolder

_FIRST_SAMPLE = 0.4
_SAMPLE_SECONDS = 1.0


class Monitor:
    """Peak memory and disk of a process tree, in bytes.

    Memory is the sum of the processes' resident sets: what they share counts for each of them.
    """

    def __init__(self, pid: int, folder: WorkFolder) -> None:
        self._pid, self._folder = pid, folder
        self._next = time.monotonic() + _FIRST_SAMPLE
        self.peak_memory = 0
        self.peak_disk = 0

    def sample(self) -> None:
        """Look, when it is time to."""
        if time.monotonic() < self._next:
            return
        self.peak_memory = max(self.peak_memory, _memory(self._pid))
        self.peak_disk = max(self.peak_disk, self._folder.size())
        self._next = time.monotonic() + _SAMPLE_SECONDS


def _memory(pid: int) -> int:
    import psutil  # takes as long to import as a short script takes to run

    try:
        script = psutil.Process(pid)
        return sum(map(_resident, [script, *script.children(recursive=True)]))
    except psutil.NoSuchProcess:
        return 0


def _resident(process: Any) -> int:
    import psutil

    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


class Progress:
    """Follows the file of live numbers that a script appends to, without secrets."""

    def __init__(self, path: Path, redaction: Redaction, report: Callable[[Mapping[str, Any]], None]) -> None:
        self._path, self._redaction, self._report = path, redaction, report
        self._offset = 0

    def forward(self) -> None:
        """Report the whole lines that are new; what is no JSON object is passed over."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                new = file.read()
        except OSError:  # not written yet, or the disk is away
            return
        whole = new[: new.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in self._redaction.hide(whole).splitlines():
            if (value := _object(line)) is not None:
                self._report(value)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
