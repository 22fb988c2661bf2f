"""The end of a run, in words and for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import typer

from translations_assets.cli.output import print_json, print_note, tell
from translations_assets.common.errors import RunCancelled, TranslationsError
from translations_assets.instance.home import open_instance
from translations_assets.project import this_project
from translations_assets.records.run import RunRecord
from translations_assets.running.budget import spent_of
from translations_assets.running.session import Session
from translations_assets.runs.run import STATES, Run
from translations_assets.runs.steps import interrupted

CANCEL_SECONDS = 20.0  # running steps have ten to end
STORING_SECONDS = 10.0  # that it is waited for what ended steps have saved


def end_run(
    session: Session,
    run: str,
    status: str,
    page: str,
    *,
    gates: Mapping[str, Sequence[str]] | None = None,
    then: str,
    why: Callable[[], str],
    json: bool,
) -> None:
    """Print the end of a run: its gates, what it has spent of its budget, the commands that show its results.

    status  Dagster's
    gates   those that did not pass, by state, if known
    then    the next step after a run that was cancelled
    why     explains a failure

    Raises RunCancelled, or TranslationsError for a failure.
    """
    if json:
        print_json(ended_as_json(session.partition, run, STATES[status], page, gates))
    for state, names in gates.items() if gates and not json else ():
        typer.echo(f"Gates {state}: {', '.join(names)}. Why: {session.command('checks')}")
    record = session.store.read_run(run) or RunRecord()
    if record.run and session.budget:
        print_note(spent_of(record.spent, session.budget.limit, session.budget.prices.currency))
    if status == "CANCELED":
        kept = interrupted(session.store, record, STORING_SECONDS)
        raise RunCancelled("\n".join([" ".join(["What is finished is kept.", *kept]), then]))
    if status != "SUCCESS":
        raise TranslationsError(why())
    from translations_assets.results.evaluations import evaluates

    kind, verb = ("Scores", "results") if any(map(evaluates, session.stages)) else ("Files", "artifacts")
    tell(f"Done. {kind}: {session.command(verb)}", err=False)


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
    partition: str, run: str, state: str, page: str = "", gates: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    """Describe the end of a run for programs; `gates` that did not pass, by state, if known."""
    return {
        "run": run or None,
        "partition": partition,
        "state": state,
        "page": page or None,
        "gates": gates,
    }
