"""Silences of a run, as one who reads its output has them."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from translations_assets.runners.batch.silence import SILENT_SECONDS


@dataclass
class Silence:
    """The longest time in which a run says nothing that it has to.

    A run that waits says what for, and again after half a minute, a minute, two …, as long as that lasts.
    Until the next such word is due it owes none, though it may have said other things meanwhile.

    longest  seconds
    after    the line of output that it followed
    """

    longest: float = 0.0
    after: str = ""
    _last: float = field(default_factory=time.monotonic)
    _line: str = ""
    _due: dict[str, tuple[float, float]] = field(default_factory=dict)  # what is waited for → due, pause

    def hear(self, line: str, now: float) -> None:
        """Count a line of output; times are in seconds."""
        silent = now - max([self._last, *(due for due, _ in self._due.values())])
        if silent > self.longest:
            self.longest, self.after = silent, self._line
        self._last, self._line = now, line
        _, waits, reason = line.partition(" waiting: ")
        if waits:
            kind = re.sub(r"\d+", "", reason)
            _, pause = self._due.get(kind, (0.0, SILENT_SECONDS / 2))
            self._due[kind] = now + 2 * pause, 2 * pause
