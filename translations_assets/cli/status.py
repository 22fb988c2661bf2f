"""`translations status`: what each stage's steps are and cost, and which run now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli.common import Json, Partition, plan_of, print_json
from translations_assets.project import Project

if TYPE_CHECKING:
    from translations_assets.steps.plan import PlannedStep
    from translations_assets.steps.protocols import Store


def command(
    partition: Partition,
    steps: Annotated[bool, typer.Option("--steps", help="Print every step, not only each stage.")] = False,
    json: Json = False,
) -> None:
    """Print the state of every stage: finished, running or failed, with time, memory and attempts."""
    project = Project()
    plan = plan_of(project, project.read_graph(partition), "all", None)
    rows = [_row(planned, project.store) for planned in plan.steps]
    if json:
        print_json({"steps": rows})
        return
    if steps:
        for row in rows:
            typer.echo(
                f"{row['state']:9}{row['seconds']:>9.1f} s  {row['memory_mb']:>7.0f} MB  {row['label']}"
            )
    else:
        _print_stages(rows)
    typer.echo(plan.summary())


def _row(planned: PlannedStep, store: Store) -> dict[str, Any]:
    manifest, usage = planned.manifest, planned.manifest.usage if planned.manifest else None
    return {
        "label": planned.step.label,
        "stage": planned.step.stage,
        "state": _state(planned, store),
        "attempts": manifest.attempt if manifest else _attempts(planned, store),
        "host": manifest.host if manifest else None,
        "seconds": usage.seconds if usage else 0.0,
        "cpu_seconds": usage.cpu_seconds if usage else 0.0,
        "memory_mb": usage.peak_memory / 1e6 if usage else 0.0,
    }


def _attempts(planned: PlannedStep, store: Store) -> int:
    return len(store.attempts(planned.key, 1)) if planned.key else 0


def _state(planned: PlannedStep, store: Store) -> str:
    if planned.status == "cached":
        return "finished"
    if planned.status in ("maybe", "lost") or planned.key is None:
        return "lost" if planned.status == "lost" else "waiting"
    with store.lock(planned.key, planned.manifest.generation + 1 if planned.manifest else 1) as free:
        if not free:
            return "running"
    return "failed" if _attempts(planned, store) else "waiting"


def _print_stages(rows: list[dict[str, Any]]) -> None:
    for stage in dict.fromkeys(row["stage"] for row in rows):
        mine = [row for row in rows if row["stage"] == stage]
        states = [row["state"] for row in mine]
        counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
        seconds = sum(row["seconds"] for row in mine)
        memory = max(row["memory_mb"] for row in mine)
        typer.echo(f"{stage:28}{counts:28}{seconds:>9.1f} s {memory:>8.0f} MB")
