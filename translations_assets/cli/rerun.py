"""`translations rerun`: repeat what a run did not finish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from translations_assets.cli.console import steps
from translations_assets.errors import TranslationsError
from translations_assets.project import this_project

if TYPE_CHECKING:
    from translations_assets.cli.run import Run


def command(
    name: Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, or how it begins.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before starting.")] = False,
) -> None:
    """Repeat what failed in a run: same partition, stages and options; finished steps are kept."""
    from translations_assets.cli.run_steps import rows_of_run
    from translations_assets.cli.runs import find_run
    from translations_assets.cli.train import run_here

    project = this_project()
    run = find_run(project, name)
    _check(run)
    read = project.read(run.partition, run.options.overrides)
    graph = read.graph
    stages = graph.with_checks(run.selection or graph.stages)
    session = project.session(str(uuid4()), read, run.options, stages)
    if run.config and graph.config.digest != run.config:
        typer.echo(f"note: the training config {run.partition} has changed since run {run.short}", err=True)
    rows = rows_of_run(project, graph, run)
    made = sum(row["state"] in ("finished", "cached") for row in rows)
    typer.echo(f"Run {run.short} of {run.partition} ({run.state}): {made} of {steps(len(rows))} made.")
    if not yes and not typer.confirm("Start?", default=True):
        raise typer.Exit(1)
    run_here(project, session, parent=run.id)


def _check(run: Run) -> None:
    if not run.is_over:
        raise TranslationsError(f"{run.short} is {run.state}. To end it: translations cancel {run.short}")
    if not run.partition:
        raise TranslationsError(f"{run.short} is not the run of a training config.")
    if not run.dagster:
        raise TranslationsError(
            f"Dagster's instance here does not know the run {run.short}. To make what is missing: "
            f"translations train {run.partition}"
        )
