"""`translations plan`: what a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import (
    Json,
    Partition,
    Target,
    asks,
    plan_of,
    plannable,
    print_json,
)
from translations_assets.project import this_project
from translations_assets.records.options import RunOptions

if TYPE_CHECKING:
    from translations_assets.graph.step import Step
    from translations_assets.running.durations import Cost
    from translations_assets.running.history import History
    from translations_assets.running.plan import Plan


@asks
def command(
    partition: Partition,
    target: Target = None,
    *,
    options: RunOptions,
    steps: Annotated[bool, typer.Option("--steps", help="Print every step, not only each stage.")] = False,
    json: Json = False,
) -> None:
    """Print which steps are cached, will run and why, or run only if their input changes (maybe).

    The last line says what that costs by past durations: hours of GPU (times the number of GPUs), and of
    processor time for steps without a GPU.
    """
    project = this_project()
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
