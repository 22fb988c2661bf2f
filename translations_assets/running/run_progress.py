"""Progress of a run's steps that have no result yet, for its record."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from typing import Any

from translations_assets.common.background import Clock
from translations_assets.graph.step import Step


class RunProgress:
    """The steps that a run has begun, the reasons, and the failures; safe for use by several threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begun: dict[Step, tuple[str, int]] = {}
        self._since: dict[Step, float] = {}
        self._failed: dict[Step, str] = {}
        self._reasons: dict[str, str] = {}
        self._lock = threading.Lock()

    def begin(self, steps: Mapping[Step, tuple[str, int]]) -> None:
        """Note which results (key, generation) the run is about to make, or to wait for."""
        with self._lock:
            self._begun.update(steps)

    def start(self, step: Step) -> None:
        """Note that an attempt of a step is started now."""
        with self._lock:
            self._since[step] = self._clock.time()

    def fail(self, step: Step, why: str) -> None:
        """Note why a step has failed."""
        with self._lock:
            self._failed[step] = why

    def note_reason(self, step: Step, reason: str) -> None:
        """Note why a step runs."""
        with self._lock:
            self._reasons[step.label] = reason

    def reason(self, step: Step) -> str:
        """Explain why this run has made a step; empty where that is not known, or not yet."""
        return self._reasons.get(step.label, "")

    def fields(self, used: Collection[Step]) -> dict[str, Any]:
        """The fields of the run's record, without the steps that have a result by now."""
        with self._lock:
            return {
                "begun": {step.label: made for step, made in self._begun.items() if step not in used},
                "since": {step.label: then for step, then in self._since.items() if step not in used},
                "failed": {step.label: why for step, why in self._failed.items() if step not in used},
                "reasons": dict(self._reasons),
            }
