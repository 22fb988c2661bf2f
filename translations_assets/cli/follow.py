"""Runs on a Dagster server: launches them, and shows what the server reports of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from translations_assets.errors import Cancelled, TranslationsError
from translations_assets.running.engine import Listener, StepEvent
from translations_assets.server import ENDED, STEP_EVENT, STEP_LABEL, STEP_MESSAGE, Server, ServerUnreachable

if TYPE_CHECKING:
    from translations_assets.graph.graph import Graph
    from translations_assets.project import Project
    from translations_assets.running.session import Session

POLL_SECONDS = 1.0
AWAY_SECONDS = 60.0  # how long a server may be away, as when it is restarted

_STEP = (STEP_EVENT, STEP_LABEL, STEP_MESSAGE)


def launch_and_follow(server: Server, project: Project, session: Session) -> None:
    """Launch a run as it is planned in a session on a server and show how it goes; Ctrl-C leaves it running.

    Raises Cancelled, or TranslationsError for a failure and for a server that does not know the partition.
    """
    from translations_assets.cli.console import console_of

    server.load_partition(session.partition)
    run = server.launch(session.partition, session.stages, session.options)
    typer.echo(f"Run {run[:8]}: {server.run_url(run)}")
    console = console_of(session)
    follower = Follower(session.graph, console)
    try:
        with console.display():
            status = follow(server, run, follower)
    except KeyboardInterrupt:
        _detach(server, run)
        raise typer.Exit(130) from None
    if status == "CANCELED":
        raise Cancelled(f"What is finished is kept: {server.run_url(run)}")
    if status != "SUCCESS":
        raise TranslationsError(follower.explain() or f"The run failed. To look: {server.run_url(run)}")
    typer.echo(f"Done. Scores: translations results {session.partition}")


def follow(server: Server, run: str, follower: Follower) -> str:
    """Pass a run's events on until it ends; how it did."""
    cursor, away = None, 0.0
    while True:
        try:
            state = server.run_state(run, cursor)
        except ServerUnreachable as error:
            away = away or time.monotonic()
            if time.monotonic() - away > AWAY_SECONDS:
                raise TranslationsError(f"{error} The run {run} may go on.") from error
            time.sleep(POLL_SECONDS)
            continue
        away, cursor = 0.0, state.cursor
        for event in state.events:
            follower.emit(event)
        if not state.events:
            if state.status in ENDED:
                return state.status
            time.sleep(POLL_SECONDS)


def _detach(server: Server, run: str) -> None:
    typer.echo("")
    if sys.stdin.isatty() and typer.confirm("Cancel the run?", default=False):
        server.terminate(run)
        typer.echo(f"Asked to end: {server.run_url(run)}")
        return
    typer.echo(f"The run goes on: {server.run_url(run)}")
    typer.echo(f"To cancel it: translations cancel {run} --server {server.url}")


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
            self._emit_of_step(*(metadata.get(name, {}).get("text", "") for name in _STEP))
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
