"""`translations checks`: the quality gates of a partition; CI's asset checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from translations_assets.cli.common import Json, Partition, Set, overrides_of, print_json, print_table
from translations_assets.errors import StepFailed, TranslationsError
from translations_assets.project import Project, this_project
from translations_assets.records.run import RunOptions
from translations_assets.running.session import UpstreamMissing

if TYPE_CHECKING:
    from translations_assets.checks.gates import Finding
    from translations_assets.running.engine import StepEvent
    from translations_assets.running.session import Session

STYLES = {"failed": "bold red", "passed": "green", "off": "dim", "not computed": "yellow"}


def command(partition: Partition, overrides: Set = None, json: Json = False) -> None:
    """Judge the quality gates; exit 1 when one of level `error` fails.

    What steps computed is read. The gates' own steps run when they never did and what they read is there; of
    all else it is said which command makes it.
    """
    session, findings = judge(partition, RunOptions(overrides=overrides_of(overrides or ())))
    for warning in dict.fromkeys(session.warnings):
        typer.echo(f"note: {warning}", err=True)
    if json:
        print_json({"partition": session.partition, "checks": [_as_json(found) for found in findings]})
    else:
        _print_findings(findings)
        typer.echo(_summary(findings))
    if any(found.state == "failed" and found.level == "error" for found in findings):
        raise typer.Exit(1)


def judge(partition: str, options: RunOptions) -> tuple[Session, list[Finding]]:
    """Compute what is missing and can be computed, and judge every gate."""
    from uuid import uuid4

    from translations_assets.checks.gates import GATES, examine

    project, run = this_project(), str(uuid4())
    session = project.session(run, partition, options)
    errors, stages = _compute(project, session), list(session.graph.stages)
    gates = sorted(GATES, key=lambda gate: stages.index(gate.stage))
    return session, [examine(session, gate, errors) for gate in gates]


def _compute(project: Project, session: Session) -> dict[str, TranslationsError]:
    """Run the gates' steps that have no result; stage → error of those that failed."""
    import threading

    ran = False
    errors: dict[str, TranslationsError] = {}

    def listen(event: StepEvent) -> None:
        nonlocal ran
        if event.kind in ("started", "done", "failed"):
            ran = True
            typer.echo(f"{event.step.label}: {event.kind}", err=True)

    try:
        for stage in session.graph.checks:
            try:
                project.engine.run(session, session.graph.stages[stage], threading.Event(), listen)
            except UpstreamMissing:
                continue  # its gates tell so
            except StepFailed as error:
                errors[stage] = error
    finally:
        if ran:
            session.end()
    return errors


def _as_json(found: Finding) -> dict[str, Any]:
    verdict = found.verdict
    return {
        "asset": found.gate.stage,
        "check": found.gate.name,
        "level": found.level,
        "state": found.state,
        "description": found.description,
        "blocking": found.gate.blocking,
        "thresholds": dict(found.thresholds),
        "overridden": dict(found.overridden),
        "numbers": dict(verdict.numbers) if verdict else {},
        "samples": list(verdict.samples) if verdict else [],
    }


def _print_findings(findings: list[Finding]) -> None:
    from rich.table import Table

    table = Table("asset", "check", "level", "state", "description")
    for found in findings:
        state = f"[{STYLES[found.state]}]{found.state}[/]"
        table.add_row(found.gate.stage, found.gate.name, found.level, state, _plain(found.description))
    print_table(table)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text.splitlines()[0])


def _summary(findings: list[Finding]) -> str:
    from collections import Counter

    states: Counter[str] = Counter(found.state for found in findings)
    counts = [f"{states[state]} {state}" for state in STYLES if states[state]]
    return f"{len(findings)} checks: {', '.join(counts)}"
