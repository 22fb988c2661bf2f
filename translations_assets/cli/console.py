"""Progress of a run, here or on a server: a line for each step that ends, and what is running now.

On a terminal the lower lines are alive: steps done, time left, each running step with its time and its live
numbers. Elsewhere (a file, a pipe, CI) the numbers of training are lines of their own.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import typer

from translations_assets.cli.common import steps_of
from translations_assets.project import this_project
from translations_assets.records.manifest import Manifest
from translations_assets.running.engine import Listener, StepEvent
from translations_assets.running.protocols import Store
from translations_assets.server import STEP_EVENT, STEP_LABEL, STEP_MESSAGE
from translations_assets.why.history import duration, past_seconds

if TYPE_CHECKING:
    from rich.text import Text

    from translations_assets.graph.graph import Graph
    from translations_assets.running.session import Session

NUMBERS_SECONDS = 5.0
_REFRESH = 4  # a second
_SHOWN = 12  # running steps


class Console:
    """A listener of the engine that prints; called from several threads.

    labels  the run's steps
    past    label → seconds that the step took in the past, as far as that is known
    """

    def __init__(self, labels: Sequence[str], store: Store, past: Mapping[str, float] | None = None) -> None:
        self._labels = list(labels)
        self._store = store
        self._past = past or {}
        self._ended: set[str] = set()
        self._running: dict[str, float] = {}
        self._numbers: dict[str, dict[str, Any]] = {}
        self._last: dict[str, float] = {}
        self._lock = threading.RLock()
        self._is_live = False

    def display(self) -> AbstractContextManager[object]:
        """While this lasts, the lower lines of a terminal are kept up to date; nothing without a terminal."""
        if not sys.stdout.isatty():
            return nullcontext()
        from rich.live import Live

        self._is_live = True
        return Live(get_renderable=self.lines, refresh_per_second=_REFRESH, transient=True)

    def __call__(self, event: StepEvent) -> None:
        """Print what an event says."""
        with self._lock:
            label = event.step.label
            if event.kind == "started":
                self._running[label] = time.monotonic()
            elif event.kind == "progress":
                self._progress(label, event.detail)
            elif event.kind == "retry":
                self._print(f"{label}: trying again: {event.detail['message']}")
            else:
                self._end(event)

    def lines(self) -> Text:
        """The lower lines: one of the whole run, one for each step that is running."""
        from rich.text import Text

        with self._lock:
            head = [f"{len(self._ended)}/{steps(len(self._labels))}", f"{len(self._running)} running"]
            text = Text(
                "  ".join([*head, *self._time_left()]), style="bold", no_wrap=True, overflow="ellipsis"
            )
            for label, since in list(self._running.items())[:_SHOWN]:
                elapsed = duration(time.monotonic() - since)
                text.append(f"\n  {label}  {elapsed}  {self._shown(label)}", style="not bold")
            if len(self._running) > _SHOWN:
                text.append(f"\n  and {len(self._running) - _SHOWN} more", style="not bold")
            return text

    def _time_left(self) -> list[str]:
        """What past durations say about the rest of the run; nothing when nothing is known."""
        rest = [label for label in self._labels if label not in self._ended]
        known = [label for label in rest if label in self._past]
        if not known:
            return []
        now = time.monotonic()
        work = sum(max(0.0, self._past[label] - (now - self._running.get(label, now))) for label in known)
        words = "about" if len(known) == len(rest) else "at least"
        return [f"{words} {duration(work / max(1, len(self._running)))} left"]

    def _end(self, event: StepEvent) -> None:
        label = event.step.label
        since = self._running.pop(label, None)
        if event.kind != "cancelled":
            self._ended.add(label)
        if event.kind == "cached":
            return
        after = f" after {time.monotonic() - since:.1f} s" if since is not None else ""
        self._print(f"{label} {event.kind}{after}{self._counts(event)}")
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
        self._numbers.setdefault(label, {}).update(detail)
        if self._is_live or time.monotonic() - self._last.get(label, 0.0) < NUMBERS_SECONDS:
            return
        self._last[label] = time.monotonic()
        self._print(f"{label}: {self._shown(label)}")

    def _shown(self, label: str) -> str:
        numbers = self._numbers.get(label, {})
        return ", ".join(f"{name} {_short(value)}" for name, value in numbers.items() if name != "kind")

    def _print(self, text: str) -> None:
        typer.echo(f"[{len(self._ended):>3}/{len(self._labels)}] {text}")


def steps(number: int) -> str:
    """`1 step`, `2 steps`."""
    return f"{number} step" if number == 1 else f"{number} steps"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def console_of(session: Session) -> Console:
    """The progress of a session's steps, with what they took in the past."""
    planned = steps_of(session.graph, session.stages)
    past = past_seconds(this_project().history(session.partition), planned)
    return Console([step.label for step in planned], session.store, past)


class Follower:
    """Turns the events of a run on a server into those that a listener of the engine gets here."""

    def __init__(self, graph: Graph, listener: Listener) -> None:
        self._graph = graph
        self._listener = listener
        self._ended: set[str] = set()
        self._errors: list[str] = []
        self._has_failed = False

    def explain(self) -> str:
        """Why the run failed, unless the failure of a step shows it already."""
        return "" if self._has_failed else "\n".join(dict.fromkeys(self._errors))

    def emit(self, event: dict[str, Any]) -> None:
        """Pass an event on."""
        metadata = {entry["label"]: entry for entry in event.get("metadataEntries", ())}
        if STEP_EVENT in metadata:
            self._emit_of_step(
                *(metadata.get(name, {}).get("text", "") for name in (STEP_EVENT, STEP_LABEL, STEP_MESSAGE))
            )
        elif event["__typename"] == "MaterializationEvent":
            self._emit_cached(event["assetKey"]["path"][-1])
        elif event["__typename"] == "ObservationEvent":
            self._emit_numbers(metadata)
        elif event.get("error"):
            self._errors.append(event["error"]["message"].strip())

    def _emit_of_step(self, kind: str, label: str, message: str) -> None:
        self._has_failed |= kind == "failed"
        self._send(kind, label, **({"message": message} if message else {}))

    def _emit_cached(self, stage: str) -> None:
        for step in self._graph.stages.get(stage, ()):
            if step.label not in self._ended:
                self._send("cached", step.label)

    def _emit_numbers(self, metadata: Mapping[str, Any]) -> None:
        for key, entry in metadata.items():
            label, _, name = key.partition(": ")
            value = entry.get("floatValue", entry.get("intValue"))
            if value is not None:
                self._send("progress", label, **{name: value})

    def _send(self, kind: Any, label: str, **detail: Any) -> None:
        if kind in ("done", "failed", "cached"):
            self._ended.add(label)
        if step := self._graph.by_label.get(label):  # another code's graph may have other steps
            self._listener(StepEvent(kind, step, detail))
