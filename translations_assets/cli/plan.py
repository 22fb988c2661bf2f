"""`translations graph`, `plan` and `explain`: the steps of a training config, which of them run, and why."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from translations_assets.cli import common, exits, output
from translations_assets.cli.common import (
    Json,
    Label,
    Partition,
    Set,
    Steps,
    Target,
    forecast_of,
    note_new_store,
    plan_of,
    settled_plan,
    this_project,
)
from translations_assets.cli.remarks import Remark, print_remark, remark_as_json, remarks
from translations_assets.config.errors import ConfigError
from translations_assets.config.stage_names import resolve_stage
from translations_assets.errors import StoreUnreachable, TranslationsError
from translations_assets.graph.step import Output
from translations_assets.records.run import RunOptions
from translations_assets.running.job import command

if TYPE_CHECKING:
    from translations_assets.graph.graph import Graph
    from translations_assets.graph.step import Step
    from translations_assets.records.manifest import KeyParts, Manifest
    from translations_assets.running.plan import Plan, PlannedStep
    from translations_assets.running.session import Session
    from translations_assets.why.explain import Explanation
    from translations_assets.why.forecast import PlanForecast

SHOWN_DIGITS = 12
STUDENT = "train_student"


Show = Literal["tasks", "full", "target", "target-graph", "optimized"]  # in taskgraph's words


def graph(
    partition: Partition,
    target: Target = None,
    show: Annotated[
        Show,
        typer.Option(
            help="tasks: all steps; full: all, with their edges; target: the target stage's; target-graph: "
            "those and everything they need; optimized: what is left of that after the cache."
        ),
    ] = "tasks",
    overrides: Set = None,
    json: Json = False,
) -> None:
    """Print the graph of steps, as taskgraph shows it."""
    keys = _shown(common.reading_session(partition, overrides), show, target)
    if json:
        output.print_json({step.label: _step_as_json(step, key) for step, key in keys.items()})
        return
    for step in keys:
        edges = "" if show == "tasks" else "".join(f"\n    <- {up.label}" for up in step.upstream())
        typer.echo(step.label + edges)


def _shown(session: Session, show: Show, target: str | None) -> dict[Step, str | None]:
    """The steps to show, each with its key where the plan is asked for it."""
    graph = session.graph
    name = target or graph.target
    named = [stage for stage in graph.up_to(target) if not name or stage in resolve_stage(name)]
    targets = common.steps_of(graph, named)
    if show in ("tasks", "full"):
        return dict.fromkeys(graph.steps)
    if show == "target":
        return dict.fromkeys(targets)
    closure = graph.step_closure(targets)
    if show == "target-graph":
        return dict.fromkeys(closure)
    note_new_store()
    planned = {step.step: step for step in plan_of(session, target).steps}
    return {step: planned[step].key for step in closure if planned[step].status != "cached"}


def _step_as_json(step: Step, key: str | None) -> dict[str, Any]:
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
            "command": ["python", "-m", step.script, *command(step)],
            "outputs": list(step.outputs),
        },
    }


@common.asks
def plan(
    partition: Annotated[str | None, common.PARTITION] = None,
    target: Target = None,
    *,
    options: RunOptions,
    steps: Steps = False,
    every: common.Every = False,
    json: Json = False,
) -> None:
    """Print which steps will run and why, or run only if their input changes (maybe).

    What is cached is counted, and listed with --all. The last lines say what the rest costs by past
    durations: hours of GPU (times the number of GPUs), and of processor time for steps without a GPU; then by
    worker class, with money and energy when the deployment file has prices. When no training config is named,
    each gets the line of all classes.
    """
    project = this_project()
    if partition is None:
        if steps:
            raise typer.BadParameter("--steps is for one training config: name it.")
        _plan_all(target, options, every, json)
        return
    session = common.plannable(project.configs.read(partition, options.overrides), target, options)
    planned = settled_plan(session, target)
    forecast = forecast_of(session, planned)
    told = remarks(session, planned)
    if json or steps:
        planned = project.explainer(session.config, project.history(session.partition)).explain_plan(planned)
    if json:
        found = [{**_planned_as_json(step), **remark_as_json(told.get(step.step))} for step in planned.steps]
        said = {
            "summary": forecast.summary(),
            "warnings": [*forecast.warnings()],
            "costs": forecast.as_json(),
        }
        output.print_json({"steps": found, **said})
        return
    print_target(session.graph, target)
    if steps:
        _print_steps(planned, told, every)
    else:
        print_stages(planned, told, every)
    print_forecast(forecast)


def _print_steps(plan: Plan, told: Mapping[Step, Remark], every: bool) -> None:
    for step in plan.steps:
        if every or step.status != "cached":
            reasons = f"  ({'; '.join(step.reasons)})" if step.reasons else ""
            output.print_line(f"{output.shown(step.status, 7)}{step.step.label}{reasons}")
        print_remark(told.get(step.step))


def _plan_all(target: str | None, options: RunOptions, every: bool, json: bool) -> None:
    """Plan all training configs. Exit code 1 when there are some that cannot be planned."""
    project = this_project()
    note_new_store()
    found = project.configs.partitions()
    if found.away:
        raise StoreUnreachable(found.away)
    summaries: dict[str, str] = {}
    errors = [str(problem) for problem in found.problems]
    width, cached = max(map(len, found.states), default=0), 0
    for partition in found.states:
        try:
            read = project.configs.read(partition, options.overrides)
            session = project.new_session(common.READING, read, options, read.graph.up_to(target))
            plan = settled_plan(session, target)
            summaries[partition] = forecast_of(session, plan).summary()
        except StoreUnreachable:
            raise
        except (ConfigError, TranslationsError) as problem:
            errors.append(str(problem))
            continue
        if not every and plan.count("cached") == len(plan.steps):
            cached += 1
        elif not json:
            typer.echo(f"{partition:{width}}  {summaries[partition]}")
    if json:
        output.print_json({"partitions": summaries, "errors": errors})
    elif cached:
        typer.echo(f"{cached} with everything cached; to list them: --all")
    for error in errors:
        typer.echo(f"error: {error}", err=True)
    if errors:
        raise typer.Exit(exits.FAILED)


def print_target(graph: Graph, target: str | None) -> None:
    """Print where a run stops, and, where that is before the student, what would make one."""
    name = target or graph.target or "all"
    if STUDENT in graph.up_to(target):
        typer.echo(f"up to {name}")
        return
    make = "--target all makes one, or target-stage: all in the training config"
    typer.echo(f"up to {name}, without a student; {make}")


def print_forecast(forecast: PlanForecast) -> None:
    """Print what a plan costs, in a line, and by worker class; and what will not fit its time."""
    for line in forecast.warnings():
        output.print_note(line)
    for line in forecast.lines():
        typer.echo(line)
    typer.echo(forecast.summary())


def print_stages(plan: Plan, told: Mapping[Step, Remark], every: bool = False) -> None:
    """Print a line for each stage that is not cached as a whole, how many of its steps have which status, and
    the remarks on them.
    """
    stages = plan.by_stage()
    width = max(map(len, stages), default=0)
    for stage, planned in stages.items():
        states = [step.status for step in planned]
        if every or set(states) != {"cached"}:
            output.print_line(f"{stage:{width}} {output.counts(states)}")
        for step in planned:
            print_remark(told.get(step.step))


def _planned_as_json(planned: PlannedStep) -> dict[str, Any]:
    return {
        "label": planned.step.label,
        "stage": planned.step.stage,
        "status": planned.status,
        "key": planned.key,
        "reasons": list(planned.reasons),
    }


class _Found(NamedTuple):
    """What `explain` finds of a step.

    parts     of its key, as far as they are known
    first     the steps before it that are to run, with their reasons
    """

    planned: PlannedStep
    parts: KeyParts
    explanation: Explanation
    first: Sequence[PlannedStep]


@common.reads
def explain(partition: Partition, label: Label, overrides: Set = None, json: Json = False) -> None:
    """Print why a step is cached or will run: what differs from its nearest earlier artifact, down to the
    function or config key, and the parts of its key."""
    session = common.reading_session(partition, overrides)
    found = _find(session, common.find_step(session.graph, partition, label))
    if json:
        output.print_json(_found_as_json(found))
        return
    for line in (*_why(found), "", *_parts(found)):
        typer.echo(line)


def _find(session: Session, step: Step) -> _Found:
    from translations_assets.running.plan import Plan
    from translations_assets.why.certain import settled
    from translations_assets.why.explain import Explanation, known_parts

    project, graph = this_project(), session.graph
    closure = graph.step_closure([step])
    plan = session.plan(closure)
    if plan.count("lost"):  # whether that matters depends on what is made from it
        plan = session.plan(graph.steps)
    history = project.history(session.partition)
    plan = settled(plan, project.keys, history)
    explainer = project.explainer(session.config, history)
    planned = next(planned for planned in plan.steps if planned.step is step)
    parts = known_parts(project.keys, step, plan.results())
    first: list[PlannedStep] = []
    if planned.status == "maybe":
        before = set(closure)
        upstream = explainer.explain_plan(Plan(tuple(other for other in plan.steps if other.step in before)))
        first = [other for other in upstream.steps if other.status in ("run", "lost")]
    is_made = planned.status == "cached"  # its manifest says why it was made
    explanation = Explanation(None, ()) if is_made else explainer.explain(step, parts)
    return _Found(planned, parts, explanation, first)


def _why(found: _Found) -> Iterator[str]:
    """The step's status, and the reasons for it."""
    planned, earlier = found.planned, found.explanation.earlier
    label, manifest = planned.step.label, planned.manifest
    if planned.status == "cached" and manifest:
        yield f"{label}: cached since {_made(manifest)}"
        yield f"  it was made because: {_why_made(manifest)}"
        yield from (f"  {reason}" for reason in planned.reasons)
        return
    if planned.status == "maybe":
        yield f"{label}: runs if its input changes; first must run:"
        yield from _first(found.first)
    else:
        yield f"{label}: {'will run' if planned.status == 'run' else 'lost'}"
    if planned.status == "lost" or manifest:
        yield from (f"  {reason}" for reason in planned.reasons)
    elif earlier is None:
        yield f"  {label} has no earlier artifact"
    elif differences := found.explanation.differences:
        yield f"what differs from the artifact of {_made(earlier)}:"
        yield from (f"  {line}" for line in differences)


def _first(steps: Sequence[PlannedStep]) -> Iterator[str]:
    """Steps with their reasons; of those with the same reasons one."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for planned in steps:
        alike.setdefault(planned.reasons, []).append(planned.step.label)
    for reasons, labels in alike.items():
        more = f" and {len(labels) - 1} more, for the same reason" if len(labels) > 1 else ""
        yield f"  {labels[0]}{more}"
        yield from (f"    {reason}" for reason in reasons)


def _made(manifest: Manifest) -> str:
    """When, by which run and under which key an artifact was made."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(manifest.ended))
    run, partition = (getattr(manifest.provenance, name) or "unknown" for name in ("run", "partition"))
    generation = f", generation {manifest.generation}" if manifest.generation > 1 else ""
    return f"{when}, by run {run} of {partition} (key {manifest.key[:SHOWN_DIGITS]}{generation})"


def _parts(found: _Found) -> Iterator[str]:
    """The parts of the key, one line each."""
    from translations_assets.why.differences import handles, short

    parts, step = found.parts, found.planned.step
    fingerprint = this_project().keys.fingerprint(step.script)
    inputs = {
        path: f"{parts.inputs[path][:SHOWN_DIGITS] or 'not known yet':{SHOWN_DIGITS + 1}}  "
        + (f"made by {handle.step.label}" if isinstance(handle, Output) else handle.path)
        for path, handle in handles(step).items()
    }
    rows: dict[str, Sequence[str]] = {
        "key": [found.planned.key or "not known before its inputs are"],
        "stage": [step.stage],
        "script": [parts.script],
        "code": [f"{parts.code[:SHOWN_DIGITS]}  ({len(fingerprint.parts)} functions, classes, constants …)"],
        "accepted": [f"{change.symbol}: {change.reason}" for change in fingerprint.accepted],
        "arguments": [
            f"--{name.replace('_', '-')} {value if isinstance(value, str) else short(value)}"
            for name, value in parts.args.items()
        ],
        "inputs": [f"{path:{max(map(len, inputs))}}  {text}" for path, text in inputs.items()],
        "outputs": parts.outputs,
        "libraries": [f"{name} {version}" for name, version in parts.libraries.items()],
        "python": [parts.python],
    }
    for name, lines in rows.items():
        for number, line in enumerate(lines):
            yield f"{'' if number else name:13}{line}"


def _found_as_json(found: _Found) -> dict[str, Any]:
    from translations_assets.why.differences import handles

    planned, explanation = found.planned, found.explanation
    step, parts = planned.step, found.parts.to_dict()
    inputs = {
        path: {"digest": parts["inputs"][path] or None}
        | ({"made_by": handle.step.label} if isinstance(handle, Output) else {"file": handle.path})
        for path, handle in handles(step).items()
    }
    accepted = [vars(change) for change in this_project().keys.fingerprint(step.script).accepted]
    differences = explanation.differences if explanation.earlier else explanation.reasons
    return {
        **_planned_as_json(planned),
        "reasons": list(planned.reasons if planned.manifest else differences),
        "made": _artifact(planned.manifest),
        "earlier": _artifact(explanation.earlier),
        "first": [{"label": other.step.label, "reasons": list(other.reasons)} for other in found.first],
        "parts": {**parts, "outputs": list(parts["outputs"]), "inputs": inputs, "accepted": accepted},
    }


def _why_made(manifest: Manifest) -> str:
    from translations_assets.why.history import why_made

    return why_made(manifest, this_project().store.read_run)


def _artifact(manifest: Manifest | None) -> Mapping[str, Any] | None:
    if manifest is None:
        return None
    return {
        "key": manifest.key,
        "generation": manifest.generation,
        "ended": manifest.ended,
        "reason": _why_made(manifest),
        "run": manifest.provenance.run or None,
        "partition": manifest.provenance.partition or None,
    }
