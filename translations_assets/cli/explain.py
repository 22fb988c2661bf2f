"""`translations explain`: why a step is cached or will run, and the parts of its key."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from translations_assets.cli import common, output
from translations_assets.cli.common import Json, Label, Partition, Set
from translations_assets.cli.plan import planned_as_json
from translations_assets.graph.step import Output, Step
from translations_assets.project import this_project
from translations_assets.records.manifest import KeyParts, Manifest
from translations_assets.running.plan import Plan
from translations_assets.running.resolve import StepState
from translations_assets.running.session import Session
from translations_assets.why.history import why_made

if TYPE_CHECKING:
    from translations_assets.why.explain import Explanation

SHOWN_DIGITS = 12


class _Found(NamedTuple):
    """The findings of `explain` on a step.

    parts     of its key, as far as they are known
    first     the steps before it that are to run, with their reasons
    """

    planned: StepState
    parts: KeyParts
    explanation: Explanation
    first: Sequence[StepState]


@common.reads
def explain(partition: Partition, label: Label, overrides: Set = None, json: Json = False) -> None:
    """Explain why a step is cached or will run: its differences from the nearest earlier artifact, down to
    the function or config key, and the parts of its key.
    """
    session = common.reading_session(partition, overrides)
    found = _find(session, common.find_step(session.graph, partition, label))
    if json:
        output.print_json(_found_as_json(found))
        return
    for line in (*_why(found), "", *_parts(found)):
        typer.echo(line)


def _find(session: Session, step: Step) -> _Found:
    from translations_assets.why.explain import Explanation, known_parts, settled

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
    first: list[StepState] = []
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


def _first(steps: Sequence[StepState]) -> Iterator[str]:
    """Steps with their reasons; of those with the same reasons only one."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for planned in steps:
        alike.setdefault(planned.reasons, []).append(planned.step.label)
    for reasons, labels in alike.items():
        more = f" and {len(labels) - 1} more, for the same reason" if len(labels) > 1 else ""
        yield f"  {labels[0]}{more}"
        yield from (f"    {reason}" for reason in reasons)


def _made(manifest: Manifest) -> str:
    """Say when, by which run and under which key an artifact was made."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(manifest.ended))
    run, partition = (getattr(manifest.provenance, name) or "unknown" for name in ("run", "partition"))
    generation = f", generation {manifest.generation}" if manifest.generation > 1 else ""
    return f"{when}, by run {run} of {partition} (key {manifest.key[:SHOWN_DIGITS]}{generation})"


def _parts(found: _Found) -> Iterator[str]:
    """The parts of the key, one line each."""
    from translations_assets.why.differences import short

    parts, step = found.parts, found.planned.step
    fingerprint = this_project().keys.fingerprint(step.script)
    inputs = {
        path: f"{parts.inputs[path][:SHOWN_DIGITS] or 'not known yet':{SHOWN_DIGITS + 1}}  "
        + (f"made by {handle.step.label}" if isinstance(handle, Output) else handle.path)
        for path, handle in step.files().items()
    }
    rows: dict[str, Sequence[str]] = {
        "key": [found.planned.key or "not known before its inputs are"],
        "stage": [step.stage],
        "script": [parts.script],
        "code": [f"{parts.code[:SHOWN_DIGITS]}  ({len(fingerprint.parts)} functions, classes, constants …)"],
        "accepted": [change.reason for change in fingerprint.accepted],
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
    planned, explanation = found.planned, found.explanation
    step, parts = planned.step, found.parts.to_dict()
    inputs = {
        path: {"digest": parts["inputs"][path] or None}
        | ({"made_by": handle.step.label} if isinstance(handle, Output) else {"file": handle.path})
        for path, handle in step.files().items()
    }
    accepted = [vars(change) for change in this_project().keys.fingerprint(step.script).accepted]
    differences = explanation.differences if explanation.earlier else explanation.reasons
    return {
        **planned_as_json(planned),
        "reasons": list(planned.reasons if planned.manifest else differences),
        "made": _artifact(planned.manifest),
        "earlier": _artifact(explanation.earlier),
        "first": [{"label": other.step.label, "reasons": list(other.reasons)} for other in found.first],
        "parts": {**parts, "outputs": list(parts["outputs"]), "inputs": inputs, "accepted": accepted},
    }


def _why_made(manifest: Manifest) -> str:
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
