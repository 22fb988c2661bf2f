"""What is said of steps that are to run: from where they go on, and how often a training reads its text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from translations_assets.cli.run_steps import newest_save

if TYPE_CHECKING:
    from translations_assets.graph.step import Step
    from translations_assets.running.plan import Plan
    from translations_assets.running.session import Session
    from translations_assets.why.epochs import Epochs


class Remark(NamedTuple):
    """What people should know of a step that is to run, see `newest_save` and `Epochs`."""

    label: str
    goes_on_from: str
    epochs: Epochs | None


def remarks(session: Session, plan: Plan) -> dict[Step, Remark]:
    """What is to be said of the steps that will or may run."""
    from translations_assets.why.epochs import TRAINING, epochs

    results, told = plan.results(), {}
    for planned in plan.steps:
        step, saved = planned.step, ""
        if planned.status not in ("run", "maybe"):
            continue
        if step.resumable and planned.key:
            generation = planned.manifest.generation + 1 if planned.manifest else 1
            saved = newest_save(session.store, planned.key, generation)
        found = epochs(step, session.keys, session.store, results) if step.script == TRAINING else None
        if saved or found:
            told[step] = Remark(step.label, saved, found)
    return told


def print_remark(remark: Remark | None) -> None:
    """Print what is to be said of a step, if there is anything."""
    if remark and remark.goes_on_from:
        typer.echo(f"    {remark.label} goes on from {remark.goes_on_from}")
    if remark and remark.epochs:
        typer.echo(f"    {remark.label}: {remark.epochs}")


def remark_as_json(remark: Remark | None) -> dict[str, Any]:
    """The fields of a planned step that say the same."""
    return {
        "goes_on_from": remark.goes_on_from or None if remark else None,
        "epochs": dict(remark.epochs.by_text) if remark and remark.epochs else None,
    }
