"""`translations train`: check, show the plan, ask, and run it through Dagster in this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import Partition, Start, Target, plan_of, repeated_stages, target_stages
from translations_assets.cli.console import Console
from translations_assets.cli.plan import print_stages
from translations_assets.project import Project
from translations_assets.steps.errors import Cancelled, TranslationsError

if TYPE_CHECKING:
    from dagster import DagsterRun


def command(
    partition: Partition,
    target: Target = None,
    start: Start = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before starting.")] = False,
) -> None:
    """Train: run every step, up to the target, that has no result yet."""
    project = Project()
    _warn_of_unused_keys(project, partition)
    graph = project.read_graph(partition)
    plan = plan_of(project, graph, target, start)
    print_stages(plan)
    typer.echo(plan.summary())
    key = project.read_config(partition)[0]
    stages = target_stages(graph, target)
    if plan.count("cached") == len(plan.steps) and _is_published(project, key, stages):
        typer.echo("Everything is made already: nothing to run.")
        return
    if not yes and not typer.confirm("Start?", default=True):
        raise typer.Exit(1)
    project.adopt(partition)
    _run(key, stages, repeated_stages(graph, start), Console(len(plan.steps), project.store))


def _warn_of_unused_keys(project: Project, partition: str) -> None:
    from translations_assets.config.unused import unused_keys

    for key in unused_keys(project.read_config(partition)[1]):
        typer.echo(f"note: {key} has no effect in this version", err=True)


def _is_published(project: Project, partition: str, stages: list[str]) -> bool:
    """Whether each stage has a ref, which is what a run leaves for runs that do not make the stage."""
    return set(stages) <= set(project.store.has_refs(project.space, partition))


def _run(partition: str, stages: list[str], repeat: list[str], console: Console) -> None:
    from translations_assets.dagster_home import home, prepare

    prepare(home())
    os.environ.setdefault("DAGSTER_HOME", str(home()))
    from translations_assets.cli.launch import launch

    run = launch(partition, stages, repeat, console)
    typer.echo(f"To look at the run: make ui, or dagster-webserver, then run {run.run_id}")
    _report(run, partition)


def _report(run: DagsterRun, partition: str) -> None:
    if run.status.value == "CANCELED":
        raise Cancelled(f"What is finished is kept; to go on: translations train {partition}")
    if run.status.value != "SUCCESS":
        raise TranslationsError(f"The run failed. To look: translations status {partition}")
    typer.echo(f"Done. Scores: translations results {partition}")
