"""What the verbs share: arguments, and finding the steps and results that a person names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.config.stage_names import resolve_stage
from translations_assets.project import Project
from translations_assets.steps.errors import GraphError
from translations_assets.steps.plan import Plan, make_plan

if TYPE_CHECKING:
    from translations_assets.steps.graph import Graph
    from translations_assets.steps.session import Session
    from translations_assets.steps.step import Step

Partition = Annotated[str, typer.Argument(help="A training config's name, or the path of a YAML file.")]
Label = Annotated[str, typer.Argument(help="A step's label, as `translations graph` prints it.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Target = Annotated[
    str | None,
    typer.Option(help="The last stage to make; the config's target-stage, else everything, by default."),
]
Start = Annotated[
    str | None, typer.Option(help="Repeat this stage and all that is made from it, although cached.")
]
LOOKING = "looking"  # the id of sessions that only look things up


def target_stages(graph: Graph, target: str | None) -> list[str]:
    """The stages that a target names, with all stages upstream of them, in running order."""
    name = target or graph.config.target_stage
    return graph.stage_closure(resolve_stage(name) if name else graph.stages)


def repeated_stages(graph: Graph, start: str | None) -> list[str]:
    """The stages that `--start` repeats: the named ones and all downstream of them."""
    return graph.downstream_stages(resolve_stage(start)) if start else []


def plan_of(project: Project, graph: Graph, target: str | None, start: str | None) -> Plan:
    """The plan of a target's stages."""
    steps = [step for stage in target_stages(graph, target) for step in graph.stages[stage]]
    return make_plan(steps, project.keys, project.store, repeated_stages(graph, start))


def find_step(graph: Graph, partition: str, label: str) -> Step:
    """The step with a label; GraphError that says how to list the labels when there is none."""
    try:
        return graph.step(label)
    except GraphError as error:
        raise GraphError(f"{error} To list the labels: translations graph {partition}") from None


def look(project: Project, partition: str) -> Session:
    """A session that finds what is there: by key, else by ref. Nothing is run."""
    return project.session(LOOKING, partition)


def outputs_of(session: Session, steps: Iterable[Step]) -> None:
    """Find the results of steps and tell on standard error what is out of date."""
    session.need(list(steps))
    for warning in session.warnings:
        typer.echo(f"note: {warning}", err=True)
    session.warnings.clear()


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
