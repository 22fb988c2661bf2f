"""`translations plan`: what a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import (
    READING,
    Json,
    Target,
    asks,
    plan_of,
    plannable,
    print_json,
)
from translations_assets.config.errors import ConfigError
from translations_assets.errors import StoreUnreachable, TranslationsError
from translations_assets.project import Project, this_project
from translations_assets.records.run import RunOptions

if TYPE_CHECKING:
    from translations_assets.graph.step import Step
    from translations_assets.running.durations import Cost
    from translations_assets.running.history import History
    from translations_assets.running.plan import Plan


@asks
def command(
    partition: Annotated[
        str | None, typer.Argument(help="A training config's name, or the path of a YAML file.")
    ] = None,
    target: Target = None,
    *,
    options: RunOptions,
    every: Annotated[bool, typer.Option("--all", help="Plan every training config, in a line each.")] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Print every step, not only each stage.")] = False,
    json: Json = False,
) -> None:
    """Print which steps are cached, will run and why, or run only if their input changes (maybe).

    The last line says what that costs by past durations: hours of GPU (times the number of GPUs), and of
    processor time for steps without a GPU.
    """
    project = this_project()
    if partition is None or every:
        if partition or steps or not every:
            raise typer.BadParameter("Name a training config, or give --all, which knows no --steps.")
        _plan_all(project, target, options, json)
        return
    session = plannable(project, project.read(partition, options.overrides), target, options)
    plan = plan_of(project, session, target)
    history = project.history(session.partition)
    summary = plan.summary(costs_of(plan, history))
    if json or steps:
        plan = project.explainer(session.graph, history).explained(plan)
    if json:
        print_json(_as_json(plan, summary))
        return
    if steps:
        for planned in plan.steps:
            reasons = f"  ({'; '.join(planned.reasons)})" if planned.reasons else ""
            typer.echo(f"{planned.status:7}{planned.step.label}{reasons}")
    else:
        print_stages(plan)
    typer.echo(summary)


def _plan_all(project: Project, target: str | None, options: RunOptions, json: bool) -> None:
    """Plan all training configs. Exit code 1 when there are some that cannot be planned."""
    found = project.partitions()
    if found.away:
        raise StoreUnreachable(found.away)
    summaries: dict[str, str] = {}
    errors = [str(problem) for problem in found.problems]
    width = max(map(len, found.states), default=0)
    for partition in found.states:
        try:
            read = project.read(partition, options.overrides)
            session = project.new_session(READING, read, options, read.graph.up_to(target))
            plan = plan_of(project, session, target)
            summaries[partition] = plan.summary(costs_of(plan, project.history(partition)))
        except StoreUnreachable:
            raise
        except (ConfigError, TranslationsError) as problem:
            errors.append(str(problem))
        if not json and partition in summaries:
            typer.echo(f"{partition:{width}}  {summaries[partition]}")
    if json:
        print_json({"partitions": summaries, "errors": errors})
    for error in errors:
        typer.echo(f"error: {error}", err=True)
    if errors:
        raise typer.Exit(1)


def costs_of(plan: Plan, history: History) -> dict[Step, Cost | None]:
    """What the steps of a plan cost that will or may run, by past durations."""
    from translations_assets.running.durations import Durations

    durations = Durations(history)
    steps = (planned.step for planned in plan.steps if planned.status in ("run", "maybe"))
    return {step: durations.cost(step) for step in steps}


def print_stages(plan: Plan) -> None:
    """Print a line for each stage: how many of its steps have which status."""
    for stage, planned in plan.by_stage().items():
        statuses = [step.status for step in planned]
        counts = ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))
        typer.echo(f"{stage:32}{counts}")


def _as_json(plan: Plan, summary: str) -> dict[str, object]:
    return {
        "steps": [
            {
                "label": planned.step.label,
                "stage": planned.step.stage,
                "status": planned.status,
                "key": planned.key,
                "reasons": list(planned.reasons),
            }
            for planned in plan.steps
        ],
        "summary": summary,
    }
