"""`translations cancel`: end a run and keep what is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.errors import TranslationsError
from translations_assets.project import Project, this_project

if TYPE_CHECKING:
    from translations_assets.cli.run import Run

SECONDS = 20.0  # running steps have ten to end


def command(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="The id of a run, how it begins, or a partition of which one run is running."
        ),
    ],
    server: Annotated[
        str | None, typer.Option(metavar="URL", help="Cancel a run of the Dagster server at this address.")
    ] = None,
) -> None:
    """Cancel a run: its running steps end within ten seconds, finished ones are kept."""
    if server:
        _cancel_on_server(name, server)
        return
    project = this_project()
    run = _running(project, name)
    from translations_assets.cli.instance import cancel
    from translations_assets.cli.runs import get_run

    status = cancel(run.id, SECONDS)
    ended = get_run(project, run.id)
    if not ended.is_over:
        raise TranslationsError(
            f"{run.short} has not ended within {SECONDS:.0f} s (it is {status}). It was asked to. "
            f"Look again: translations status {run.short}"
        )
    kept = len(ended.uses or ())
    typer.echo(f"Run {run.short} of {run.partition}: {ended.state}. {kept} finished {_steps(kept)} kept.")
    typer.echo(f"To go on: translations rerun {run.short}")


def _steps(number: int) -> str:
    return "step is" if number == 1 else "steps are"


def _running(project: Project, name: str) -> Run:
    from translations_assets.cli.runs import find_run, is_run, running_of

    if is_run(project, name):
        run = find_run(project, name)
        if run.is_over or not run.dagster:
            raise TranslationsError(f"{run.short} does not run: {run.state}.")
        return run
    runs = [run for run in running_of(project, project.read(name).partition) if run.dagster]
    if not runs:
        raise TranslationsError(f"No run of {name} is running. To list the runs: translations status")
    if len(runs) > 1:
        found = ", ".join(run.short for run in runs)
        raise TranslationsError(f"Several runs of {name} are running: {found}. Name one of them.")
    return runs[0]


def _cancel_on_server(run: str, url: str) -> None:
    import time

    from translations_assets.server import ENDED, Server

    server = Server(url)
    server.terminate(run)
    deadline = time.monotonic() + SECONDS
    while (status := server.look(run).status) not in ENDED:
        if time.monotonic() > deadline:
            raise TranslationsError(f"{run} has not ended within {SECONDS:.0f} s; it was asked to.")
        time.sleep(0.5)
    typer.echo(f"Run {run}: {status}. Finished steps are kept: {server.run_url(run)}")
