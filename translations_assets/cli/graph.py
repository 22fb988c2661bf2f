"""`translations graph`: the steps of a training config, without a store."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli.common import (
    Json,
    Partition,
    Set,
    Target,
    plan_of,
    print_json,
    reading_session,
)
from translations_assets.project import Project, this_project

if TYPE_CHECKING:
    from translations_assets.graph.graph import Graph
    from translations_assets.graph.step import Step
    from translations_assets.running.session import Session


class Show(StrEnum):
    """Which steps to show, in taskgraph's words."""

    tasks = "tasks"
    full = "full"
    target = "target"
    target_graph = "target-graph"
    optimized = "optimized"


def command(
    partition: Partition,
    target: Target = None,
    show: Annotated[
        Show,
        typer.Option(
            help="tasks: all steps; full: all, with their edges; target: the target stage's; target-graph: "
            "those and everything they need; optimized: what is left of that after the cache."
        ),
    ] = Show.tasks,
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Print the graph of steps, as taskgraph shows it."""
    project = this_project()
    keys: dict[str, str | None] = {}
    steps = _selected(project, reading_session(project, partition, overrides), show, target, keys)
    if json:
        print_json({step.label: _as_json(step, keys.get(step.label)) for step in steps})
        return
    for step in steps:
        edges = "" if show is Show.tasks else "".join(f"\n    <- {up.label}" for up in step.upstream())
        typer.echo(step.label + edges)


def _selected(
    project: Project,
    session: Session,
    show: Show,
    target: str | None,
    keys: dict[str, str | None],
) -> list[Step]:
    graph = session.graph
    stages = _named(graph, target)
    if show in (Show.tasks, Show.full):
        return list(graph.steps)
    targets = [step for stage in stages for step in graph.stages[stage]]
    if show is Show.target:
        return targets
    closure = graph.step_closure(targets)
    if show is Show.target_graph:
        return closure
    planned = {step.step: step for step in plan_of(project, session, target).steps}
    keys.update({step.label: planned[step].key for step in closure})
    return [step for step in closure if planned[step].status != "cached"]


def _named(graph: Graph, target: str | None) -> list[str]:
    """The target's own stages, without those upstream of them."""
    from translations_assets.config.stage_names import resolve_stage

    name = target or graph.config.target_stage
    return [stage for stage in graph.up_to(target) if not name or stage in resolve_stage(name)]


def _as_json(step: Step, key: str | None) -> dict[str, Any]:
    from translations_assets.running.job import command as command_of

    return {
        "label": step.label,
        "key": key,
        "attributes": {
            "stage": step.stage,
            "worker": step.worker,
            "resumable": step.resumable,
            "repeatable": step.repeatable,
        },
        "dependencies": {f"{name}/{path}": output.step.label for name, path, output in step.input_outputs()},
        "task": {
            "script": step.script,
            "args": dict(step.args),
            "worker": step.worker,
            "command": ["python", "-m", step.script, *command_of(step)],
            "outputs": list(step.outputs),
        },
    }
