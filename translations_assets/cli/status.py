"""`translations status`: the newest runs; the steps of a run or of a partition, and what they cost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli.common import PARTITION_OR_RUN, Json, Set, plan_of, print_json, reading_session
from translations_assets.cli.run_steps import Row, rows_of_plan, rows_of_run, steps_of
from translations_assets.config.errors import ConfigError
from translations_assets.errors import TranslationsError
from translations_assets.project import Project, this_project
from translations_assets.running.durations import duration

if TYPE_CHECKING:
    from translations_assets.cli.run import Run
    from translations_assets.graph.graph import Graph
    from translations_assets.running.session import Session

NEWEST = 15


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[PARTITION|RUN]",
            help=PARTITION_OR_RUN,
        ),
    ] = None,
    steps: Annotated[bool, typer.Option("--steps", help="Print every step, not only each stage.")] = False,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Print the newest runs; of a run or a partition, each step's state, attempts, time, CPU and memory."""
    from translations_assets.cli.runs import is_run

    project = this_project()
    if name is None:
        _print_newest(project, json)
    elif is_run(project, name):
        _print_run(project, name, steps, json)
    else:
        _print_partition(project, reading_session(project, name, overrides), steps, json)


def _print_partition(project: Project, session: Session, steps: bool, json: bool) -> None:
    plan = plan_of(project, session, "all")
    rows = rows_of_plan(plan.steps, project.store)
    if json:
        print_json({"steps": rows})
        return
    _print_rows(rows, steps)
    typer.echo(plan.summary())


def _print_run(project: Project, name: str, steps: bool, json: bool) -> None:
    from translations_assets.cli.runs import find_run

    run = find_run(project, name)
    graph = _graph(project, run)
    rows = rows_of_run(project, graph, run) if graph else []
    if json:
        print_json({**_as_json(run), "steps": rows})
        return
    if graph and run.config and graph.config.digest != run.config:
        typer.echo(f"note: the training config {run.partition} has changed since this run", err=True)
    _print_rows(rows, steps)
    typer.echo(f"run {run.id} of {run.partition}: {_told(run)}, {_count(rows)}")
    if run.is_over and run.state in ("failed", "cancelled", "lost its process"):
        typer.echo(f"To repeat what is missing: translations rerun {run.short}")


def _told(run: Run) -> str:
    asked = [f"--{name.replace('_', '-')}" for name in run.options.to_dict()]
    return " ".join([run.state, *([f"({' '.join(asked)})"] if asked else [])])


def _print_newest(project: Project, json: bool) -> None:
    from translations_assets.cli.runs import newest_runs

    runs = [(run, *_progress(project, run)) for run in newest_runs(project, NEWEST)]
    if json:
        values = [{**_as_json(run), "steps_done": done, "steps": total} for run, done, total in runs]
        print_json({"runs": values})
        return
    if not runs:
        typer.echo("No run yet. To start one: translations train PARTITION")
        return
    width = max(len(run.partition) for run, _, _ in runs)
    for run, done, total in runs:
        steps = f"{done}/{total}" if total else "-"
        took = duration(run.seconds) if run.seconds is not None else "-"
        started = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.started)) if run.started else "-"
        typer.echo(
            f"{run.short}  {run.partition:{width}}  {run.state:16}  {started:16}  {took:>9}  {steps:>9} steps"
        )


def _progress(project: Project, run: Run) -> tuple[int, int]:
    """How many of a run's steps are done, and how many it has; 0 of 0 when its config cannot be read."""
    graph = _graph(project, run)
    labels = {step.label for step in steps_of(graph, run.selection)} if graph else set()
    return len(labels.intersection(run.uses or ())), len(labels)


def _graph(project: Project, run: Run) -> Graph | None:
    """The graph of the run's partition; None when its config was removed or does not work any more."""
    try:
        return project.read(run.partition, run.options.overrides).graph
    except (ConfigError, TranslationsError):
        return None


def _as_json(run: Run) -> dict[str, Any]:
    return {
        "run": run.id,
        "partition": run.partition,
        "state": run.state,
        "started": run.started,
        "ended": run.ended,
        "seconds": run.seconds,
        "stages": list(run.selection),
        "options": run.options.to_dict(),
    }


def _print_rows(rows: list[Row], steps: bool) -> None:
    if not steps:
        _print_stages(rows)
        return
    for row in rows:
        attempts = f"  {row['attempts']} attempts" if row["attempts"] > 1 else ""
        typer.echo(
            f"{row['state']:11} {row['seconds']:>9.1f} s {row['cpu_seconds']:>9.1f} s CPU "
            f"{row['memory_mb']:>8.0f} MB  {_gpu(row):22}{row['worker']:9} {row['host'] or '-':12} "
            f"{row['label']}{attempts}"
        )


def _gpu(row: Row) -> str:
    if not row["gpus"]:
        return ""
    return f"{row['gpus']} GPU {row['gpu_utilisation']:.0%} {row['gpu_memory_mb']:.0f} MB"


def _print_stages(rows: list[Row]) -> None:
    for stage in dict.fromkeys(row["stage"] for row in rows):
        mine = [row for row in rows if row["stage"] == stage]
        seconds = sum(row["seconds"] for row in mine)
        memory = max(row["memory_mb"] for row in mine)
        typer.echo(f"{stage:32}{_count(mine):28}{seconds:>9.1f} s {memory:>8.0f} MB")


def _count(rows: list[Row]) -> str:
    states = [row["state"] for row in rows]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)) or "no steps"
