"""`translations plan`: what a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import Json, Partition, Start, Target, plan_of, print_json
from translations_assets.project import Project

if TYPE_CHECKING:
    from translations_assets.steps.plan import Plan


def command(
    partition: Partition,
    target: Target = None,
    start: Start = None,
    steps: Annotated[bool, typer.Option("--steps", help="Print every step, not only each stage.")] = False,
    json: Json = False,
) -> None:
    """Print which steps are cached, will run, or run only if their input changes."""
    project = Project()
    plan = plan_of(project, project.read_graph(partition), target, start)
    if json:
        print_json(_as_json(plan))
        return
    if steps:
        for planned in plan.steps:
            reasons = f"  ({'; '.join(planned.reasons)})" if planned.reasons else ""
            typer.echo(f"{planned.status:7}{planned.step.label}{reasons}")
    else:
        print_stages(plan)
    typer.echo(plan.summary())


def print_stages(plan: Plan) -> None:
    """Print a line for each stage: how many of its steps have which status."""
    for stage, planned in plan.by_stage().items():
        statuses = [step.status for step in planned]
        counts = ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))
        typer.echo(f"{stage:28}{counts}")


def _as_json(plan: Plan) -> dict[str, object]:
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
        "summary": plan.summary(),
    }
