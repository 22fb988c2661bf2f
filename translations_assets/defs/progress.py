"""What people see of an asset while its steps run: log lines, and training curves as observations."""

import threading
import time
from collections.abc import Mapping
from typing import Any

import dagster as dg

from translations_assets.defs.shared import LISTENERS
from translations_assets.running.engine import StepEvent

OBSERVATION_SECONDS = 5.0  # an event costs some milliseconds on SQLite


class Progress:
    """A listener of the engine for one asset of one run; called from several threads."""

    def __init__(self, context: dg.AssetExecutionContext | dg.OpExecutionContext, stage: str) -> None:
        self._context = context
        self._stage = stage
        self._numbers: dict[str, float] = {}
        self._pending = False
        self._last = -OBSERVATION_SECONDS
        self._lock = threading.Lock()

    def __enter__(self) -> "Progress":
        """Use it as a context: leaving it reports the numbers that came last."""
        return self

    def __exit__(self, *error: object) -> None:
        """Report numbers that no observation has yet."""
        if self._pending:
            self._report(dict(self._numbers))

    def __call__(self, event: StepEvent) -> None:
        """Take note of an event of a step."""
        for listener in LISTENERS:
            listener(event)
        label, log = event.step.label, self._context.log
        if event.kind == "progress":
            self._observe(label, event.detail)
        elif event.kind == "started":
            log.info(f"{label}: started. To follow it: {self._command('logs -f', label)}")
        elif event.kind == "retry":
            log.warning(f"{label}: {event.detail['message']} Trying again.")
        elif event.kind == "failed":
            log.error(event.detail["message"])
        elif event.kind == "cancelled":
            log.warning(f"{label}: cancelled")
        elif event.kind == "done":
            log.info(f"{label}: done")

    def _command(self, verb: str, label: str) -> str:
        return f"translations {verb} {self._context.partition_key} {label}"

    def _observe(self, label: str, numbers: Mapping[str, Any]) -> None:
        """Keep the newest numbers; report them at most every five seconds."""
        with self._lock:
            self._numbers.update(
                {
                    f"{label}: {name}": value
                    for name, value in numbers.items()
                    if isinstance(value, (int, float))
                }
            )
            self._pending = time.monotonic() - self._last < OBSERVATION_SECONDS
            if self._pending:
                return
            self._last = time.monotonic()
            metadata = dict(self._numbers)
        self._report(metadata)

    def _report(self, metadata: dict[str, float]) -> None:
        self._context.log_event(
            dg.AssetObservation(
                asset_key=dg.AssetKey(self._stage), partition=self._context.partition_key, metadata=metadata
            )
        )
