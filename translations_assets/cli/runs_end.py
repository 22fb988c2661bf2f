"""The end of a run, in words and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from translations_assets.cli.output import print_note, tell
from translations_assets.instance.home import open_instance
from translations_assets.project import this_project
from translations_assets.records.run import RunRecord
from translations_assets.results.evaluations import evaluates
from translations_assets.running.budget import spent_of
from translations_assets.running.protocols import Store
from translations_assets.running.session import Session
from translations_assets.runs.run import Run
from translations_assets.runs.steps import interrupted

STORING_SECONDS = 10.0  # that it is waited for what ended steps have saved


def tell_done(session: Session) -> None:
    """Print that a run is done, and the commands that show its results."""
    has_scores = any(map(evaluates, session.stages))
    question = (
        "Scores: " + session.command("results") if has_scores else "Files: " + session.command("artifacts")
    )
    tell(f"Done. {question}", err=False)


def tell_spent(session: Session, run: str = "") -> None:
    """Print how much of its budget a run, by default the session's, has spent."""
    record = session.store.read_run(run or session.run)
    if record and session.budget:
        print_note(spent_of(record.spent, session.budget.limit, session.budget.prices.currency))


def kept_of(store: Store, run: str) -> str:
    """List what a cancelled run has kept, and the point from which unfinished steps resume."""
    record = store.read_run(run) or RunRecord()
    return " ".join(["What is finished is kept.", *interrupted(store, record, STORING_SECONDS)])


def next_steps(run: Run) -> Iterator[str]:
    """Suggest the next steps after a run that failed, was cancelled or has lost its process."""
    if not run.dagster:  # which alone can repeat it
        yield f"To make what is missing: translations train {run.partition}"
        return
    from translations_assets.runs.ended import EndedRun
    from translations_assets.runs.instance import existing

    with open_instance() as instance:
        ended = EndedRun(run, existing(instance, run.id), instance, this_project().deployment)
        for line in ended.next_steps():
            yield line.replace("`", "")


def gates_missed(run: str) -> dict[str, list[str]]:
    """The gates of a run that did not pass: see `ended.missed_gates`."""
    from translations_assets.runs.ended import missed_gates

    with open_instance() as instance:
        return missed_gates(instance, run)


def ended_as_json(
    session: Session, run: str, state: str, page: str, gates: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Describe the end of a run for programs; `gates` that did not pass, by state, if known."""
    return {
        "run": run or None,
        "partition": session.partition,
        "state": state,
        "page": page or None,
        "gates": gates,
    }
