"""`translations checks`: the verdicts of the quality gates on finished steps."""

from __future__ import annotations

import shutil
import sys
import textwrap
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer

from translations_assets.cli import common, exits, output
from translations_assets.cli.common import Json, Partition, Set
from translations_assets.common.errors import StepFailed, TranslationsError
from translations_assets.graph.step import Step
from translations_assets.project import this_project
from translations_assets.records.run import RunOptions
from translations_assets.running.events import StepEvent
from translations_assets.running.session import Session, UpstreamMissing

if TYPE_CHECKING:
    from translations_assets.checks.gates import Finding

# As the line of sums names them, in this order
STATES = ("failed", "not computed", "passed", "nothing to judge", "off")
WIDTH = 100  # of lines in a pipe or a file


@common.reads
def checks(
    partition: Partition,
    make: Annotated[
        bool, typer.Option("--make", help="Run the gates' own steps that have no result, where they can run.")
    ] = False,
    overrides: Set = None,
    every: Annotated[bool, typer.Option("--all", help="Also list the gates that pass.")] = False,
    json: Json = False,
) -> None:
    """Judge the quality gates; exit 1 when one of level `error` fails, or any has no result.

    The gates read the numbers that steps have computed, and name the command that makes missing ones.
    """
    options = RunOptions(overrides=common.overrides_of(overrides))
    session = this_project().session(str(uuid4()), partition, options)
    findings = _judge(session, _compute(session) if make else {})
    common.print_warnings(session)
    if json:
        values = [_finding_as_json(found) for found in findings]
        output.print_json({"partition": session.partition, "checks": values})
    else:
        _print_findings(findings, every)
    missing = [found for found in findings if found.state == "not computed"]
    if missing:
        typer.echo(
            f"not made: {len(missing)} of {len(findings)} gates have no result. "
            f"To compute what can be: {session.command('checks', '--make')}",
            err=True,
        )
    if missing or any(found.is_error for found in findings):
        raise typer.Exit(exits.FAILED)


def _judge(session: Session, errors: Mapping[str, TranslationsError]) -> list[Finding]:
    """Judge every gate. `errors` are those of the gates' own stages that failed."""
    from translations_assets.checks.gates import GATES, examine

    stages = list(session.graph.stages)
    gates = sorted(GATES, key=lambda gate: stages.index(gate.stage))
    return [examine(session, gate, errors) for gate in gates]


def _compute(session: Session) -> dict[str, TranslationsError]:
    """Run the gates' steps that have no result; stage → error of those that failed."""
    ran = False
    errors: dict[str, TranslationsError] = {}

    def listen(event: StepEvent) -> None:
        nonlocal ran
        ran = ran or event.what.kind in common.RAN
        common.tell_event(event)

    engine = this_project().engine
    try:
        for stage in session.graph.checks:
            steps = session.graph.stages[stage]
            try:
                session.results.need([up for step in steps for up in step.upstream()])
                _tell_waiting(session, steps)
                engine.run(session, steps, threading.Event(), listen)
            except UpstreamMissing:
                continue  # its gates say so
            except StepFailed as error:
                errors[stage] = error
    finally:
        if ran:
            session.end()
    return errors


def _tell_waiting(session: Session, steps: Sequence[Step]) -> None:
    """Name the steps that are about to wait for a slot: other runs may hold all of them for long."""
    for planned in session.plan(session.graph.step_closure(steps)).steps:
        if planned.step in steps and planned.status != "cached":
            output.tell(f"{planned.step.label}: waits until the runner has room for it")


def _finding_as_json(found: Finding) -> dict[str, Any]:
    verdict = found.verdict
    return {
        "asset": found.gate.stage,
        "check": found.gate.name,
        "level": found.level,
        "state": found.state,
        "description": found.description,
        "blocking": found.level == "error",
        "thresholds": dict(found.thresholds),
        "overridden": dict(found.overridden),
        "numbers": dict(verdict.numbers) if verdict else {},
        "samples": list(verdict.samples) if verdict else [],
    }


def _print_findings(findings: list[Finding], every: bool) -> None:
    """Print what fails, then what is not computed, then how many there are of the rest, or these as well."""
    from translations_assets.checks.gates import HARMLESS

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    for found in findings:
        if found.state == "failed":
            _print_finding(found, width)
    _print_not_computed([found for found in findings if found.state == "not computed"], width)
    for found in findings:
        if every and found.state in HARMLESS:
            _print_finding(found, width)
    states = sorted((found.state for found in findings), key=STATES.index)
    hint = "" if every or not set(states) & set(HARMLESS) else "; to list all: --all"
    output.print_line(f"{len(findings)} checks: {output.counts(states)}{hint}")


def _print_finding(found: Finding, width: int) -> None:
    level = f"  (level {found.level})" if found.state == "failed" else ""
    output.print_line(f"{output.shown(found.state)}  {found.gate.name} of {found.gate.stage}{level}")
    _print_text(found.description.splitlines()[0], width)


def _print_not_computed(findings: list[Finding], width: int) -> None:
    """Print what is not computed, once for all that lack the same."""
    names: dict[str, list[str]] = {}
    for found in findings:
        names.setdefault(found.description.splitlines()[0], []).append(
            f"{found.gate.name} of {found.gate.stage}"
        )
    for description, lacking in names.items():
        output.print_line(output.shown("not computed"))
        _print_text(", ".join(lacking), width)
        _print_text(description, width)


def _print_text(text: str, width: int) -> None:
    """Print a text, indented, its lines broken between words."""
    for line in textwrap.wrap(text, max(width, 40) - 4, break_long_words=False, break_on_hyphens=False):
        typer.echo(f"    {line}")
