"""Progress of a run on the terminal: a line for each step that ends, and the numbers of training."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import Any

import typer

from translations_assets.steps.engine import StepEvent
from translations_assets.steps.manifest import Manifest
from translations_assets.steps.protocols import Store

NUMBERS_SECONDS = 5.0


class Console:
    """A listener of the engine that prints; called from several threads. `total` counts the run's steps."""

    def __init__(self, total: int, store: Store) -> None:
        self._total = total
        self._store = store
        self._ended = 0
        self._started: dict[str, float] = {}
        self._numbers: dict[str, dict[str, Any]] = {}
        self._last: dict[str, float] = {}
        self._lock = threading.Lock()

    def __call__(self, event: StepEvent) -> None:
        """Print what an event says."""
        with self._lock:
            label = event.step.label
            if event.kind == "started":
                self._started[label] = time.monotonic()
            elif event.kind == "progress":
                self._progress(label, event.detail)
            elif event.kind == "retry":
                self._print(f"{label}: trying again: {event.detail['message']}")
            else:
                self._end(event)

    def _end(self, event: StepEvent) -> None:
        self._ended += event.kind != "cancelled"
        if event.kind == "cached":
            return
        label = event.step.label
        seconds = time.monotonic() - self._started.get(label, time.monotonic())
        self._print(f"{label} {event.kind} after {seconds:.1f} s{self._counts(event)}")
        if event.kind == "failed":
            typer.echo(f"\n{event.detail['message']}\n", err=True)

    def _counts(self, event: StepEvent) -> str:
        """What a step that drops lines has kept, and why it dropped the rest."""
        manifest: Manifest | None = event.detail.get("manifest")
        if manifest is None or "stats.json" not in manifest.outputs:
            return ""
        lines = json.loads(self._store.read_blob(manifest.outputs["stats.json"])).get("lines", {})
        dropped = {reason: number for reason, number in lines.get("dropped", {}).items() if number}
        if not dropped:
            return ""
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in dropped.items())
        return f": kept {lines['kept']:,} of {lines['in']:,} lines ({reasons})"

    def _progress(self, label: str, detail: Mapping[str, Any]) -> None:
        numbers = self._numbers.setdefault(label, {})
        numbers.update(detail)
        if time.monotonic() - self._last.get(label, 0.0) < NUMBERS_SECONDS:
            return
        self._last[label] = time.monotonic()
        shown = [f"{name} {_short(value)}" for name, value in numbers.items() if name != "kind"]
        self._print(f"{label}: {', '.join(shown)}")

    def _print(self, text: str) -> None:
        typer.echo(f"[{self._ended:>3}/{self._total}] {text}")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
