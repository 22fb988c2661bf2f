"""Runs on a Dagster server: launches them, and shows what the server tells of them."""

from __future__ import annotations

import re
import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from translations_assets.errors import Cancelled, TranslationsError
from translations_assets.running.engine import Listener, StepEvent
from translations_assets.server import ENDED, RunState, Server, ServerUnreachable

if TYPE_CHECKING:
    from translations_assets.graph.graph import Graph
    from translations_assets.project import Project
    from translations_assets.running.session import Session

POLL_SECONDS = 1.0
AWAY_SECONDS = 60.0  # how long a server may be away, as when it is restarted

_FAILED = re.compile(r"The step (\S+) (?:failed|cannot be looked up|was not started)")


def launch_and_follow(server: Server, project: Project, session: Session) -> None:
    """Launch a run as it is planned in a session on a server and show how it goes; Ctrl-C leaves it running.

    Raises Cancelled, or TranslationsError for a failure and for a server that does not know the partition.
    """
    from translations_assets.cli.console import console_of

    server.load_partition(session.partition)
    run = server.launch(session.partition, session.stages, session.options)
    typer.echo(f"Run {run[:8]}: {server.run_url(run)}")
    console = console_of(session)
    teller = Teller(session.graph, console)
    try:
        with console.display():
            status = follow(server, run, teller)
    except KeyboardInterrupt:
        _detach(server, run)
        raise typer.Exit(130) from None
    if status == "CANCELED":
        raise Cancelled(f"What is finished is kept: {server.run_url(run)}")
    if status != "SUCCESS":
        raise TranslationsError(teller.explain() or f"The run failed. To look: {server.run_url(run)}")
    typer.echo(f"Done. Scores: translations results {session.partition}")


def follow(server: Server, run: str, teller: Teller) -> str:
    """Tell of a run's events until it ends; how it did."""
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
        teller.tell(state)
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


class Teller:
    """Turns the events of a run on a server into those that a listener of the engine hears here.

    What the run's assets log of their steps (`defs/assets.py`) begins with the step's label.
    """

    def __init__(self, graph: Graph, listener: Listener) -> None:
        self._graph = graph
        self._listener = listener
        self._ended: set[str] = set()
        self._errors: list[str] = []
        self._has_told = False

    def tell(self, state: RunState) -> None:
        """Pass on what is new."""
        for event in state.events:
            self._tell(event)

    def explain(self) -> str:
        """Why the run failed, unless the failure of a step says it already."""
        return "" if self._has_told else "\n".join(dict.fromkeys(self._errors))

    def _tell(self, event: dict[str, Any]) -> None:
        if event["__typename"] == "LogMessageEvent":
            self._tell_of_step(event["message"])
        elif event["__typename"] == "MaterializationEvent":
            self._tell_of_cached(event["assetKey"]["path"][-1])
        elif event["__typename"] == "ObservationEvent":
            self._tell_numbers(event["metadataEntries"])
        elif event.get("error"):
            self._errors.append(event["error"]["message"].strip())

    def _tell_of_step(self, message: str) -> None:
        failed = _FAILED.match(message)
        label, _, rest = message.partition(": ")
        if failed and failed[1] in self._graph.by_label:
            self._has_told = True
            self._send("failed", failed[1], message=message)
        elif label not in self._graph.by_label:
            return
        elif rest.startswith("started."):
            self._send("started", label)
        elif rest in ("done", "cancelled"):
            self._send("done" if rest == "done" else "cancelled", label)
        elif rest.endswith("Trying again."):
            self._send("retry", label, message=rest)

    def _tell_of_cached(self, stage: str) -> None:
        for step in self._graph.stages.get(stage, ()):
            if step.label not in self._ended:
                self._send("cached", step.label)

    def _tell_numbers(self, entries: list[dict[str, Any]]) -> None:
        for entry in entries:
            label, _, name = entry["label"].partition(": ")
            value = entry.get("floatValue", entry.get("intValue"))
            if label in self._graph.by_label and value is not None:
                self._send("progress", label, **{name: value})

    def _send(self, kind: Any, label: str, **detail: Any) -> None:
        if kind in ("done", "failed", "cached"):
            self._ended.add(label)
        self._listener(StepEvent(kind, self._graph.by_label[label], detail))
