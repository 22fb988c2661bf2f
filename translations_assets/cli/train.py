"""`translations train`: check, show the plan, ask, and run it through Dagster, here or on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import (
    Partition,
    Target,
    asks,
    plan_of,
    plannable,
)
from translations_assets.cli.console import console_of
from translations_assets.cli.plan import costs_of, print_stages
from translations_assets.config.partitions import SUFFIXES
from translations_assets.errors import Cancelled, TranslationsError
from translations_assets.project import Project, this_project
from translations_assets.records.run import RunOptions

if TYPE_CHECKING:
    from translations_assets.running.plan import Plan
    from translations_assets.running.session import Session
    from translations_assets.server import Server


@asks
def command(
    partition: Partition,
    target: Target = None,
    *,
    options: RunOptions,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before starting.")] = False,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Run it on the Dagster server at this address, not here."),
    ] = None,
) -> None:
    """Train: run every step, up to the target, that has no result yet."""
    project = this_project()
    remote = _reach(server) if server else None
    read = project.read(partition, options.overrides)
    session = plannable(project, read, target, options)
    plan = plan_of(project, session, target)
    print_stages(plan)
    typer.echo(plan.summary(costs_of(plan, project.history(session.partition))))
    if _is_published(session, plan):
        typer.echo("Everything is made already: nothing to run.")
        return
    if not yes and not typer.confirm(_question(partition, session.partition), default=True):
        raise typer.Exit(1)
    project.adopt(read)
    if remote:
        from translations_assets.cli.follow import launch_and_follow

        launch_and_follow(remote, project, session)
    else:
        run_here(project, session)


def _question(partition: str, key: str) -> str:
    """The question before the start; it offers a name where that of the file cannot be a partition."""
    from pathlib import Path

    renamed = partition.endswith(SUFFIXES) and Path(partition).stem != key
    return f"Start, as the partition {key}?" if renamed else "Start?"


def run_here(project: Project, session: Session, parent: str | None = None) -> None:
    """Run a session's stages in this process, and show how it goes; `parent` is the run that it repeats.

    Raises Cancelled, or TranslationsError for a failure.
    """
    from translations_assets.cli.instance import missed_gates
    from translations_assets.cli.launch import launch

    console = console_of(project, session)
    with console.live():
        run = launch(session, console, _say_where, parent)
    partition = session.partition
    if missed := missed_gates(run.run_id):
        typer.echo(f"Gates that failed or warned: {', '.join(missed)}. Why: translations checks {partition}")
    if run.status.value == "CANCELED":
        raise Cancelled(f"What is finished is kept; to go on: translations rerun {run.run_id[:8]}")
    if run.status.value != "SUCCESS":
        raise TranslationsError(
            f"The run failed. To look: translations status {run.run_id[:8]}\n"
            f"To repeat what failed: translations rerun {run.run_id[:8]}"
        )
    typer.echo(f"Done. Scores: translations results {partition}")


def _reach(url: str) -> Server:
    """The server, when it answers: before anybody is asked anything."""
    from translations_assets.server import Server

    server = Server(url)
    server.check()
    return server


def _say_where(run: str) -> None:
    from translations_assets.server import Server
    from translations_assets.settings import server_url

    typer.echo(f"Run {run[:8]}: {Server(server_url()).run_url(run)} (to start the UI: make ui)")


def _is_published(session: Session, plan: Plan) -> bool:
    """Whether everything is cached, and each stage's newest ref names these very results.

    Refs are what a run leaves for runs that do not make the stage. A config that was changed and changed back
    finds its results in the store, but the refs are those of the change.
    """
    if plan.count("cached") < len(plan.steps):
        return False
    steps = plan.by_stage()
    for stage in session.stages:
        results = {planned.step.label: planned.manifest for planned in steps.get(stage, [])}
        used = {label: (found.key, found.generation) for label, found in results.items() if found}
        newest = session.store.refs(session.space, session.ref_partition, stage)[:1]
        if not newest or newest[0].steps != used:
            return False
    return True
