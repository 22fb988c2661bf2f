"""Writes a run's record to the store: when asked, and each minute as a sign of life.

It holds what of the record stands nowhere else: the steps that have no result yet.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from translations_assets.common.background import Clock, Repeating
from translations_assets.graph.step import Step
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store

HEARTBEAT_SECONDS = 60.0

_log = logging.getLogger(__name__)


class RunRecorder:
    """Writes the record of a run, with what it is told of steps; safe for use by several threads.

    make  gives the record as it is now
    """

    def __init__(self, run: str, store: Store, make: Callable[[], RunRecord], clock: Clock) -> None:
        self._run, self._store, self._make, self._clock = run, store, make, clock
        self._begun: dict[Step, tuple[str, int]] = {}
        self._since: dict[Step, float] = {}
        self._failed: dict[Step, str] = {}
        self._reasons: dict[str, str] = {}
        self._noting = threading.Lock()
        self._writing = threading.Lock()  # held while the record is written
        self._asked = self._written = 0  # calls of `write`, and how many of them have been answered
        self._last = -math.inf
        report = partial(_log.warning, "the run's record cannot be renewed: %s")
        self._heartbeat = Repeating(f"heartbeat of {run}", self.write, HEARTBEAT_SECONDS, report, clock=clock)

    def begin(self, steps: Mapping[Step, tuple[str, int]]) -> None:
        """Note which results (key, generation) the run is about to make, or to wait for."""
        with self._noting:
            self._begun.update(steps)

    def start(self, step: Step) -> None:
        """Note that an attempt of a step is started now."""
        with self._noting:
            self._since[step] = self._clock.time()

    def fail(self, step: Step, why: str) -> None:
        """Note why a step has failed, and write that soon."""
        with self._noting:
            self._failed[step] = why
        self._heartbeat.wake()

    def note_reason(self, step: Step, reason: str) -> None:
        """Note why a step runs."""
        with self._noting:
            self._reasons[step.label] = reason

    def reason(self, step: Step) -> str:
        """Explain why this run has made a step; empty where that is not known, or not yet."""
        return self._reasons.get(step.label, "")

    def fields(self, used: Collection[Step]) -> dict[str, Any]:
        """The fields of the run's record, without the steps that have a result by now."""
        with self._noting:
            return {
                "begun": {step.label: made for step, made in self._begun.items() if step not in used},
                "since": {step.label: then for step, then in self._since.items() if step not in used},
                "failed": {step.label: why for step, why in self._failed.items() if step not in used},
                "reasons": dict(self._reasons),
            }

    def write(self) -> None:
        """Store the record as it is now; calls that wait for each other share a write."""
        with self._noting:
            self._asked += 1
            call = self._asked
        with self._writing:
            if self._written >= call:
                return
            pause = self._last + self._store.rewrite_seconds - self._clock.monotonic()
            self._clock.wait(threading.Event(), max(0.0, pause))
            with self._noting:
                asked = self._asked  # what these calls are about has been noted before
            record = self._make()
            self._last = self._clock.monotonic()
            self._store.write_run(self._run, record)
            self._written = asked

    def keep_alive(self) -> None:
        """Write now and each minute until `stop`, so that what the run uses is not collected.

        A write that fails, as while the store is away, is reported; the next one comes all the same.
        """
        self._heartbeat.tick()
        self._heartbeat.start()

    def stop(self) -> None:
        """Write no more by itself."""
        self._heartbeat.stop()
