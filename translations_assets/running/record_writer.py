"""Writes a run's record to the store: when asked, and each minute as a sign of life."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable
from functools import partial

from translations_assets.common.background import Clock, Repeating
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store

HEARTBEAT_SECONDS = 60.0

_log = logging.getLogger(__name__)


class RecordWriter:
    """Writes the record of a run; safe for use by several threads.

    make  gives the record as it is now
    """

    def __init__(self, run: str, store: Store, make: Callable[[], RunRecord], clock: Clock) -> None:
        self._run, self._store, self._make, self._clock = run, store, make, clock
        self._counting = threading.Lock()
        self._writing = threading.Lock()  # held while the record is written
        self._asked = self._written = 0  # calls of `write`, and how many of them have been answered
        self._last = -math.inf
        report = partial(_log.warning, "the run's record cannot be renewed: %s")
        self._heartbeat = Repeating(f"heartbeat of {run}", self.write, HEARTBEAT_SECONDS, report, clock=clock)

    def write(self) -> None:
        """Store the record as it is now; calls that wait for each other share a write."""
        with self._counting:
            self._asked += 1
            call = self._asked
        with self._writing:
            if self._written >= call:
                return
            pause = self._last + self._store.rewrite_seconds - self._clock.monotonic()
            self._clock.wait(threading.Event(), max(0.0, pause))
            with self._counting:
                asked = self._asked  # what these calls are about has been noted before
            record = self._make()
            self._last = self._clock.monotonic()
            self._store.write_run(self._run, record)
            self._written = asked

    def keep_alive(self) -> None:
        """Write now and each minute until `stop`, so that what the run uses is not collected."""
        self.write()
        self._heartbeat.start()

    def renew(self) -> None:
        """Write soon, if the record is kept alive."""
        self._heartbeat.wake()

    def stop(self) -> None:
        """Write no more by itself."""
        self._heartbeat.stop()
