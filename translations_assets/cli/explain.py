"""`translations explain`: why a step is cached or will run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from translations_assets.cli.common import Json, Label, Partition, Set, find_step, print_json, reading_session
from translations_assets.project import Project, this_project
from translations_assets.running.plan import Plan, PlannedStep

if TYPE_CHECKING:
    from translations_assets.graph.step import Step
    from translations_assets.records.manifest import KeyParts, Manifest
    from translations_assets.running.session import Session
    from translations_assets.why.explain import Explanation

SHOWN_DIGITS = 12


class _Found(NamedTuple):
    """What is known of a step.

    parts     of its key, as far as they are known
    first     the steps before it that are to run, with their reasons
    """

    planned: PlannedStep
    parts: KeyParts
    explanation: Explanation
    first: tuple[PlannedStep, ...]


def command(partition: Partition, label: Label, overrides: Set = None, json: Json = False) -> None:
    """Print why a step is cached or will run: what differs from its nearest earlier artifact, down to the
    function or config key, and the parts of its key."""
    project = this_project()
    session = reading_session(project, partition, overrides)
    found = _find(project, session, find_step(session.graph, partition, label))
    if json:
        print_json(_as_json(project, found))
        return
    for line in (*_why(found), "", *_parts(project, found)):
        typer.echo(line)


def _find(project: Project, session: Session, step: Step) -> _Found:
    from translations_assets.why.explain import Explanation, known_parts

    graph = session.graph
    plan = project.plan(session, graph.step_closure([step]))
    if plan.count("lost"):  # whether that matters depends on what is made from it
        plan = project.plan(session, graph.steps)
    explainer = project.explainer(graph, project.history(session.partition))
    planned = _of(plan, step)
    parts = known_parts(project.keys, step, plan.results())
    first: tuple[PlannedStep, ...] = ()
    if planned.status == "maybe":
        before = set(graph.step_closure([step]))
        to_run = [other for other in plan.steps if other.step in before and other.status in ("run", "lost")]
        explained = explainer.explained(Plan(tuple(other for other in plan.steps if other.step in before)))
        first = tuple(_of(explained, other.step) for other in to_run)
    is_made = planned.status == "cached"  # its manifest says why it was made
    explanation = Explanation(None, ()) if is_made else explainer.explain(step, parts)
    return _Found(planned, parts, explanation, first)


def _of(plan: Plan, step: Step) -> PlannedStep:
    return next(planned for planned in plan.steps if planned.step is step)


def _why(found: _Found) -> Iterator[str]:
    """The step's status, and the reasons for it."""
    planned, earlier = found.planned, found.explanation.earlier
    label, manifest = planned.step.label, planned.manifest
    if planned.status == "cached" and manifest:
        yield f"{label}: cached since {_made(manifest)}"
        yield f"  it was made because: {manifest.reason}"
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


def _parts(project: Project, found: _Found) -> Iterator[str]:
    """The parts of the key, one line each."""
    from translations_assets.graph.step import RepoFile
    from translations_assets.why.differences import handles, short

    parts, step = found.parts, found.planned.step
    fingerprint = project.keys.fingerprint(step.script)
    inputs = {
        path: f"{parts.inputs[path][:SHOWN_DIGITS] or 'not known yet':{SHOWN_DIGITS + 1}}  "
        + (handle.path if isinstance(handle, RepoFile) else f"made by {handle.step.label}")
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


def _as_json(project: Project, found: _Found) -> dict[str, Any]:
    from translations_assets.graph.step import RepoFile
    from translations_assets.why.differences import handles

    planned, earlier = found.planned, found.explanation.earlier
    step, parts = planned.step, found.parts.to_dict()
    inputs = {
        path: {"digest": parts["inputs"][path] or None}
        | ({"file": handle.path} if isinstance(handle, RepoFile) else {"made_by": handle.step.label})
        for path, handle in handles(step).items()
    }
    accepted = [vars(change) for change in project.keys.fingerprint(step.script).accepted]
    return {
        "label": step.label,
        "stage": step.stage,
        "status": planned.status,
        "key": planned.key,
        "reasons": list(planned.reasons if planned.manifest else _reasons(found.explanation)),
        "made": _artifact(planned.manifest),
        "earlier": _artifact(earlier),
        "first": [{"label": other.step.label, "reasons": list(other.reasons)} for other in found.first],
        "parts": {**parts, "outputs": list(parts["outputs"]), "inputs": inputs, "accepted": accepted},
    }


def _reasons(explanation: Explanation) -> Sequence[str]:
    return explanation.differences if explanation.earlier else explanation.reasons


def _artifact(manifest: Manifest | None) -> Mapping[str, Any] | None:
    if manifest is None:
        return None
    return {
        "key": manifest.key,
        "generation": manifest.generation,
        "ended": manifest.ended,
        "reason": manifest.reason,
        "run": manifest.provenance.run or None,
        "partition": manifest.provenance.partition or None,
    }
