"""Remarks on steps that are to run: runs that already make them, saved progress, epochs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from translations_assets.graph.step import Step
    from translations_assets.running.plan import Plan
    from translations_assets.running.session import Session
    from translations_assets.why.training_work import Epochs


class Remark(NamedTuple):
    """Facts about a step that is to run; see `begun_by_runs`, `newest_save` and `Epochs`."""

    label: str
    made_by: str
    goes_on_from: str
    epochs: Epochs | None


def remarks(session: Session, plan: Plan) -> dict[Step, Remark]:
    """Collect the remarks on the steps that will or may run."""
    if not plan.count("run") + plan.count("maybe"):
        return {}
    from translations_assets.running.runner import begun_by_runs
    from translations_assets.running.saves import newest_save
    from translations_assets.why.estimates import TRAINING
    from translations_assets.why.training_work import epochs

    store, results, told = session.store, plan.results(), {}
    begun = begun_by_runs(store) if plan.count("run") else {}
    for planned in plan.steps:
        step, saved, run = planned.step, "", ""
        if planned.status not in ("run", "maybe"):
            continue
        if planned.key:
            made = planned.key, planned.manifest.generation + 1 if planned.manifest else 1
            run = begun[made] if made in begun and store.owners.is_owned(*made) else ""
            saved = newest_save(store, *made) if step.resumable and not run else ""
        found = epochs(step, session.keys, session.store, results) if step.script == TRAINING else None
        if run or saved or found:
            told[step] = Remark(step.label, run, saved, found)
    return told


def print_remark(remark: Remark | None) -> None:
    """Print what is to be said of a step, if there is anything."""
    if remark and remark.made_by:
        typer.echo(f"    {remark.label}: {remark.made_by} is already making it; this run will wait for it")
    if remark and remark.goes_on_from:
        typer.echo(f"    {remark.label} continues from {remark.goes_on_from}")
    if remark and remark.epochs:
        typer.echo(f"    {remark.label}: {remark.epochs}")


def remark_as_json(remark: Remark | None) -> dict[str, Any]:
    """The fields of a planned step that say the same."""
    return {
        "made_by": remark.made_by or None if remark else None,
        "goes_on_from": remark.goes_on_from or None if remark else None,
        "epochs": dict(remark.epochs.by_text) if remark and remark.epochs else None,
    }
