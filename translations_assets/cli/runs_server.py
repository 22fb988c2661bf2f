"""Runs on a Dagster server: one is launched and followed, or cancelled."""

from __future__ import annotations

import sys
import time

import typer

from translations_assets.cli import exits
from translations_assets.cli.console import Follower, console_of
from translations_assets.cli.output import print_answer, print_json, tell
from translations_assets.cli.runs_end import CANCEL_SECONDS, end_run, ended_as_json
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import user
from translations_assets.instance.server import ENDED, Server, ServerUnreachable, assets_of
from translations_assets.running.plan import Plan
from translations_assets.running.session import Session
from translations_assets.runs.run import STATES

_POLL_SECONDS = 1.0
_AWAY_SECONDS = 60.0  # how long a server may be away, as when it is restarted


def run_on_server(server: Server, session: Session, plan: Plan, *, detach: bool, json: bool) -> None:
    """Launch a planned run on a server and show its progress; Ctrl-C leaves it running.

    To detach is to leave it running at once.

    Raises RunCancelled, or TranslationsError for a failure and for a server that does not know the partition.
    """
    server.load_partition(session.partition)
    assets = assets_of(session.stages, session.config)
    run = server.launch(session.partition, assets, session.options, user())
    tell(f"Run {run[:8]}: {server.run_url(run)}", err=False)
    if detach:
        if json:
            print_json(ended_as_json(session.partition, run, "running", server.run_url(run)))
        tell(f"To cancel it: translations cancel {run} --server {server.url}", err=False)
        return
    console = console_of(session, plan)
    follower = Follower(session.graph, console, server.url)
    try:
        with console.display():
            status = _follow(server, run, follower)
    except KeyboardInterrupt:
        _detach(server, run)
        raise typer.Exit(exits.CANCELLED) from None
    failed = f"The run failed. To see its steps: {server.run_url(run)}"
    end_run(
        session,
        run,
        status,
        server.run_url(run),
        then=f"The run: {server.run_url(run)}",
        why=lambda: follower.explain() or failed,
        json=json,
    )


def _follow(server: Server, run: str, follower: Follower) -> str:
    """Forward a run's events until it ends, and return its status."""
    cursor, away = None, 0.0
    while True:
        try:
            state = server.run_state(run, cursor)
        except ServerUnreachable as error:
            away = away or time.monotonic()
            if time.monotonic() - away > _AWAY_SECONDS:
                raise TranslationsError(f"{error} The run {run} may go on.") from error
            time.sleep(_POLL_SECONDS)
            continue
        away, cursor = 0.0, state.cursor
        for event in state.events:
            follower.emit(event)
        if not state.events:
            if state.status in ENDED:
                return state.status
            time.sleep(_POLL_SECONDS)


def _detach(server: Server, run: str) -> None:
    typer.echo("")
    if sys.stdin.isatty() and typer.confirm("Cancel the run?", default=False):
        server.terminate(run)
        typer.echo(f"Asked to end: {server.run_url(run)}")
        return
    typer.echo(f"The run goes on: {server.run_url(run)}")
    typer.echo(f"To cancel it: translations cancel {run} --server {server.url}")


def cancel_on_server(run: str, url: str, json: bool) -> None:
    """Cancel a run of a server."""
    server = Server(url)
    server.terminate(run)
    deadline = time.monotonic() + CANCEL_SECONDS
    while (status := server.run_state(run).status) not in ENDED:
        if time.monotonic() > deadline:
            raise TranslationsError(f"{run} did not end within {CANCEL_SECONDS:.0f} s, although asked to.")
        time.sleep(_POLL_SECONDS)
    print_answer(
        json,
        {"run": run, "partition": None, "state": STATES[status], "kept": None, "interrupted": None},
        f"Run {run}: {status}. Finished steps are kept: {server.run_url(run)}",
    )
