"""Progress of a run, here or on a server: a line for each step that ends, and what is running now.

On a terminal the lower lines are alive: steps done, time left, each running step with its time and its live
numbers, a training's bar. Elsewhere (a file, a pipe, CI) the numbers of training are lines of their own.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, TextIO, TypeAlias

import typer
from rich.console import Console as Terminal
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from translations_assets.cli import common
from translations_assets.cli.live import RunningStep, cut_line, rows_of
from translations_assets.cli.output import STYLES, is_quiet, number_of
from translations_assets.graph.graph import Graph
from translations_assets.instance.server import NUMBERS, STAGE, STEP_EVENT, STEP_LABEL, STEP_MESSAGE
from translations_assets.records.cost import duration
from translations_assets.records.manifest import Manifest
from translations_assets.results.files import read_statistics
from translations_assets.running import events
from translations_assets.running.events import Event, Listener, StepEvent
from translations_assets.running.plan import Plan
from translations_assets.running.protocols import Store
from translations_assets.running.session import Session

Say: TypeAlias = Callable[[str | Text], None]
Said: TypeAlias = tuple[Say, str | Text]  # what prints, and what

NUMBERS_SECONDS = 5.0
_REFRESH = 4  # a second
_SHOWN = 12  # running steps


class Console:
    """A listener of the engine that prints; called from several threads.

    labels  the run's steps
    past    label → seconds that the step took in the past, as far as that is known; none for cached ones
    """

    def __init__(self, labels: Sequence[str], store: Store, past: Mapping[str, float] | None = None) -> None:
        self._labels = list(labels)
        self._store = store
        self._past = past or {}
        self._ended: dict[str, str] = {}  # label → kind of its last event
        self._running: dict[str, RunningStep] = {}
        self._waiting: dict[str, str] = {}  # label → for what
        self._last: dict[str, float] = {}
        self._lock = threading.RLock()
        self._is_live = False
        self._say: Say = typer.echo
        self._complain: Say = partial(typer.echo, err=True)

    @contextmanager
    def display(self) -> Iterator[None]:
        """While this lasts, the lower lines of a terminal are kept up to date.

        Dagster redirects the descriptors of standard output and error while it runs assets. Lines go to where
        these led when this began.
        """
        with ExitStack() as stack:
            stack.callback(self._use, typer.echo, partial(typer.echo, err=True))
            out, err = (stack.enter_context(_duplicate(stream)) for stream in (sys.stdout, sys.stderr))
            terminal, both = Terminal(file=out), out.isatty() and err.isatty()
            self._use(
                partial(_print_line, terminal), partial(_print_line, terminal if both else Terminal(file=err))
            )
            if is_quiet():
                self._say = lambda text: None
            elif out.isatty():
                self._is_live = True
                live = Live(
                    console=terminal,
                    get_renderable=self.lines,
                    refresh_per_second=_REFRESH,
                    transient=True,
                    redirect_stderr=both,
                )
                stack.enter_context(live)
            yield

    def _use(self, say: Say, complain: Say) -> None:
        self._say, self._complain, self._is_live = say, complain, False

    def __call__(self, event: StepEvent) -> None:
        """Print what an event says."""
        # Printing waits for the display, which waits for this lock while it asks for its lines.
        with self._lock:
            said = list(self._take(event))
        for say, text in said:
            say(text)

    def _take(self, event: StepEvent) -> Iterator[Said]:
        """Take in an event; return the text to print for it, and its writer."""
        label = event.step.label
        match event.what:
            case events.Waiting(message):
                self._waiting[label] = message
                yield self._line(f"{label}: {message}")
            case events.Started():
                self._waiting.pop(label, None)
                self._running[label] = RunningStep(event.step, time.monotonic())
            case events.Progress(numbers):
                yield from self._progress(label, numbers)
            case events.Notice(message):
                yield self._complain, f"{label}: {message}"
            case events.Retry(message):
                yield self._line(f"{label}: trying again: {message}")
            case events.Cached() | events.Done() | events.Failed() | events.Cancelled():
                yield from self._end(label, event.what)

    def lines(self) -> Group:
        """The lower lines: one of the whole run, one for each running step, and one with a training's bar."""
        with self._lock:
            rows: list[RenderableType] = [cut_line("  ".join([*self._counted(), *self._time_left()]), "bold")]
            for label, running in list(self._running.items())[:_SHOWN]:
                rows.extend(rows_of(label, running))
            if len(self._running) > _SHOWN:
                rows.append(Text(f"  and {len(self._running) - _SHOWN} more"))
            rows += [cut_line(f"  {label} {why}") for label, why in list(self._waiting.items())[:_SHOWN]]
            return Group(*rows)

    def _counted(self) -> Iterator[str]:
        """Count the steps that have ended, by outcome, and those that are running."""
        yield f"{len(self._ended)}/{number_of(len(self._labels), 'step')}"
        kinds = list(self._ended.values())
        yield from (f"{kinds.count(kind)} {kind}" for kind in ("cached", "done", "failed") if kind in kinds)
        yield f"{len(self._running)} running"

    def _time_left(self) -> list[str]:
        """Estimate the time left, from past durations and the pace of trainings; nothing without any."""
        left = {label: self._seconds_left(label) for label in self._labels if label not in self._ended}
        known = [seconds for seconds in left.values() if seconds is not None]
        if not known:
            return []
        words = "about" if len(known) == len(left) else "at least"
        return [f"{words} {duration(sum(known) / max(1, len(self._running)))} left"]

    def _seconds_left(self, label: str) -> float | None:
        """Estimate the seconds left of a step that has not ended."""
        running, past = self._running.get(label), self._past.get(label)
        if running is None:
            return past
        by_pace = running.seconds_left()
        return by_pace if by_pace is not None else None if past is None else max(0.0, past - running.elapsed)

    def _end(self, label: str, what: Event) -> Iterator[Said]:
        running = self._running.pop(label, None)
        self._waiting.pop(label, None)
        if not isinstance(what, events.Cancelled):
            self._ended[label] = what.kind
        if isinstance(what, events.Cached):
            return
        after = f" after {running.elapsed:.1f} s" if running else ""
        kind = what.kind, STYLES.get(what.kind, "")
        counts = self._counts(what.manifest) if isinstance(what, events.Done) else ""
        yield self._line(f"{label} ", kind, f"{after}{counts}")
        if isinstance(what, events.Failed) and what.message:
            yield self._complain, f"\n{what.message}\n"

    def _counts(self, manifest: Manifest | None) -> str:
        """Describe the lines that a step has kept, and the reasons for the lines that it dropped."""
        stats = read_statistics(self._store, manifest.outputs, manifest.label) if manifest else None
        lines = stats.lines if stats else None
        dropped = {reason: number for reason, number in lines.dropped.items() if number} if lines else {}
        if not lines or not dropped:
            return ""
        reasons = ", ".join(f"{reason} {number:,}" for reason, number in dropped.items())
        return f": kept {lines.kept:,} of {lines.read:,} lines ({reasons})"

    def _progress(self, label: str, numbers: Mapping[str, Any]) -> Iterator[Said]:
        if (running := self._running.get(label)) is None:
            return  # a server may tell the last numbers after the end
        self._waiting.pop(label, None)
        running.take(numbers)
        if self._is_live or time.monotonic() - self._last.get(label, 0.0) < NUMBERS_SECONDS:
            return
        self._last[label] = time.monotonic()
        yield self._line(f"{label}: {running.shown()}")

    def _line(self, *parts: str | tuple[str, str]) -> Said:
        return self._say, Text.assemble(f"[{len(self._ended):>3}/{len(self._labels)}] ", *parts)


def _duplicate(stream: TextIO) -> TextIO:
    """Duplicate a stream, so that it stays usable after its descriptor is redirected."""
    stream.flush()
    return os.fdopen(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors=stream.errors)


def _print_line(terminal: Terminal, text: str | Text) -> None:
    terminal.print(Text.assemble(text), soft_wrap=True)


def console_of(session: Session, plan: Plan) -> Console:
    """The progress of a session's steps, with what those took in the past that its plan has not cached."""
    mine = common.steps_of(session.graph, session.stages)
    cached = {found.step for found in plan.steps if found.status == "cached"}
    past = session.expected or common.forecast_of(session, plan).expected
    nothing = {step.label: 0.0 for step in mine if step in cached}
    return Console(
        [step.label for step in mine],
        session.store,
        {**{label: found.seconds for label, found in past.items()}, **nothing},
    )


_TOLD: Mapping[str, type[Event]] = {  # the events that a server's log tells of, by kind
    each.kind: each
    for each in (
        events.Waiting,
        events.Started,
        events.Notice,
        events.Retry,
        events.Done,
        events.Failed,
        events.Cancelled,
    )
}


class Follower:
    """Turns the events of a run on a server into those that a listener of the engine gets here.

    url  the server's, before the paths of pages that it tells of
    """

    def __init__(self, graph: Graph, listener: Listener, url: str) -> None:
        self._graph = graph
        self._listener = listener
        self._url = url
        self._ended: set[str] = set()
        self._errors: list[str] = []

    def explain(self) -> str:
        """Explain why the run failed, with the addresses of logs."""
        return "\n".join(dict.fromkeys(self._errors))

    def emit(self, event: dict[str, Any]) -> None:
        """Pass an event on."""
        metadata = {entry["label"]: entry for entry in event.get("metadataEntries", ())}
        if STAGE in metadata:
            self._emit_cached(metadata[STAGE]["text"])
        elif NUMBERS in metadata:
            self._emit_numbers(metadata)
        elif STEP_EVENT in metadata:
            kind, label, message = (
                metadata.get(name, {}).get("text", "") for name in (STEP_EVENT, STEP_LABEL, STEP_MESSAGE)
            )
            if told := _TOLD.get(kind):  # a newer server may tell of others
                self._send(label, told.from_dict({"message": message}))
        elif event["__typename"] == "MaterializationEvent":
            self._emit_cached(event["assetKey"]["path"][-1])
        elif event["__typename"] == "ObservationEvent":
            self._emit_numbers(metadata)
        elif event.get("error"):
            self._errors.append(event["error"]["message"].strip())
            for entry in (event.get("failureMetadata") or {}).get("metadataEntries", ()):
                self._errors.append(f"{entry['label']}: {self._url}{entry.get('url', '')}")

    def _emit_cached(self, stage: str) -> None:
        for step in self._graph.stages.get(stage, ()):
            if step.label not in self._ended:
                self._send(step.label, events.Cached())

    def _emit_numbers(self, metadata: Mapping[str, Any]) -> None:
        for key, entry in metadata.items():
            name, bracket, number = key.partition(" (")  # as `defs.assets.AssetProgress` marks them
            label = metadata.get(f"{STEP_LABEL}{bracket}{number}", {}).get("text", "")
            value = entry.get("floatValue", entry.get("intValue"))
            if value is not None:
                self._send(label, events.Progress({name: value}))

    def _send(self, label: str, what: Event) -> None:
        if isinstance(what, events.Done | events.Failed | events.Cached):
            self._ended.add(label)
        if step := self._graph.by_label.get(label):  # another code's graph may have other steps
            self._listener(StepEvent(step, what))
