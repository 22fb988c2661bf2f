"""`translations cache accept`: declare a change of code harmless."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import Partition, find_step, reading_session
from translations_assets.errors import TranslationsError
from translations_assets.keys.key import KeyMaker
from translations_assets.project import Project, this_project

if TYPE_CHECKING:
    from translations_assets.graph.graph import Graph
    from translations_assets.graph.step import Step
    from translations_assets.keys.code.accepted import Accepted
    from translations_assets.keys.code.compare import Acceptance
    from translations_assets.records.manifest import Manifest
    from translations_assets.running.session import Session


def command(
    partition: Partition,
    what: Annotated[
        str,
        typer.Argument(
            metavar="LABEL|SYMBOL",
            help="A step, or one changed symbol as explain names it: pipeline.train.train:build_args.",
        ),
    ],
    reason: Annotated[str, typer.Option(help="Why the change does not change what the step makes.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Declare a change of code harmless: what was made before it counts as made by the code as it is now.

    Compares the code with that of the step's nearest earlier artifact and writes what changed to
    pipeline/accepted-changes.yml, to be committed. A later change of the same code runs the steps again.
    To undo, delete the lines.
    """
    from translations_assets.keys.code.accepted import FILE, Accepted, add_changes

    if not reason.strip():
        raise TranslationsError("--reason is empty: say why the change is harmless.")
    project = this_project()
    session = reading_session(project, partition)
    graph = session.graph
    symbol = what if ":" in what and what not in graph.by_label else ""
    steps = _reaching(project, graph, symbol) if symbol else [find_step(graph, partition, what)]
    step, earlier = _earlier(project, session, steps, what)
    path = project.root / FILE
    accepted = Accepted.read(path)
    found, changed = _compare(project, step, earlier, accepted, reason.strip(), symbol)
    _check(found, earlier, step, symbol)
    typer.echo(f"{step.script}, since {earlier.label} was made:")
    for line in changed:
        typer.echo(f"  {line}")
    typer.echo("To be accepted, each with all that it reaches:")
    for change in found.changes:
        typer.echo(f"  {change.symbol}")
    yes or typer.confirm("Do these changes leave the results as they are?", abort=True)
    before = _digests(project.keys, graph)
    add_changes(path, found.changes)
    _report(graph, before, _digests(KeyMaker(project.root), graph), path)


def _reaching(project: Project, graph: Graph, symbol: str) -> list[Step]:
    """One step for each script that reaches a symbol."""
    scripts = {step.script: step for step in graph.steps}
    steps = [step for name, step in scripts.items() if symbol in project.keys.fingerprint(name).parts]
    if not steps:
        raise TranslationsError(
            f"No step of this config reaches {symbol}. Name a step by its label, or a symbol as explain "
            "names it: pipeline.train.train:build_args."
        )
    return steps


def _earlier(project: Project, session: Session, steps: Iterable[Step], what: str) -> tuple[Step, Manifest]:
    """The first of the steps whose nearest earlier artifact was made by other code, and that artifact."""
    from translations_assets.why.explain import known_parts

    explainer = project.explainer(session.graph, project.history(session.partition))
    made = project.plan(session, session.graph.steps).results()
    for step in steps:
        earlier = explainer.explain(step, known_parts(project.keys, step, made)).earlier
        if earlier is None or earlier.provenance.parts.script != step.script:
            continue
        if earlier.provenance.parts.code != project.keys.fingerprint(step.script).digest:
            return step, earlier
    raise TranslationsError(
        f"There is nothing to accept for {what}: no earlier artifact of it was made by other code."
    )


def _compare(
    project: Project, step: Step, earlier: Manifest, accepted: Accepted, reason: str, symbol: str
) -> tuple[Acceptance, Sequence[str]]:
    """What to accept, and what changed, for people."""
    from translations_assets.keys.code.compare import code_changes, find_changes
    from translations_assets.keys.code.fingerprint import CodeBase
    from translations_assets.runners.work_folder import unpack

    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bundle.tar"
        project.store.place_blob(earlier.bundle, bundle)
        unpack(bundle, Path(folder) / "code")
        old, new = CodeBase(Path(folder) / "code"), CodeBase(project.root)
        found = find_changes(old, new, step.script, accepted, reason, symbol)
        return found, code_changes(old, new, step.script)


def _check(found: Acceptance, earlier: Manifest, step: Step, symbol: str) -> None:
    if found.earlier != earlier.provenance.parts.code:
        raise TranslationsError(
            f"{earlier.label} was made under another form of keys, or with accepted changes that have been "
            "deleted since: nothing that could be accepted leads back to its key."
        )
    if not found.changes:
        raise TranslationsError(f"{symbol} is as it was when {earlier.label} was made: nothing to accept.")
    if found.digest != found.earlier:
        typer.echo(f"note: {step.label} still runs: its code differs in more than {symbol}", err=True)


def _digests(keys: KeyMaker, graph: Graph) -> dict[str, str]:
    return {script: keys.fingerprint(script).digest for script in {s.script for s in graph.steps}}


def _report(graph: Graph, before: dict[str, str], after: dict[str, str], path: Path) -> None:
    labels = [step.label for step in graph.steps if before[step.script] != after[step.script]]
    few = ", ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")
    typer.echo(f"Written to {path}; commit it. Other keys than a moment ago: {few or 'none'}.")
