"""`translations rerun`: repeat what a run did not finish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.console import steps
from translations_assets.errors import TranslationsError
from translations_assets.project import Project

if TYPE_CHECKING:
    from translations_assets.cli.runs import Run


def command(
    name: Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, or how it begins.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before starting.")] = False,
) -> None:
    """Repeat what failed in a run: same partition, stages and options; finished steps are kept."""
    from translations_assets.cli.run_steps import rows_of_run
    from translations_assets.cli.runs import find_run
    from translations_assets.cli.train import run_here

    project = Project()
    run = find_run(project, name)
    _check(run)
    graph = project.read_graph(run.partition, run.options.overrides)
    if run.config and graph.config.digest != run.config:
        typer.echo(f"note: the training config {run.partition} has changed since run {run.short}", err=True)
    rows = rows_of_run(project, graph, run)
    made = sum(row["state"] in ("finished", "cached") for row in rows)
    typer.echo(f"Run {run.short} of {run.partition} ({run.state}): {made} of {steps(len(rows))} made.")
    if not yes and not typer.confirm("Start?", default=True):
        raise typer.Exit(1)
    stages = [stage for stage in graph.stages if not run.selection or stage in run.selection]
    run_here(project, run.partition, graph, stages, run.options, parent=run.id)


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
