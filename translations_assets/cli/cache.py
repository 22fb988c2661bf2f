"""`translations cache`: the contents of the store, and accepted changes of code."""

from __future__ import annotations

import random
import re
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from translations_assets.cli import common, completion, exits
from translations_assets.cli.common import Json, Partition, this_project
from translations_assets.cli.output import Progress, print_answer, print_json, print_note
from translations_assets.errors import TranslationsError
from translations_assets.records.retention import Rules

if TYPE_CHECKING:
    from translations_assets.graph.graph import Graph
    from translations_assets.graph.step import Step
    from translations_assets.keys.code.accepted import Accepted
    from translations_assets.keys.code.compare import Acceptance
    from translations_assets.keys.key import KeyMaker
    from translations_assets.project import Project
    from translations_assets.records.manifest import Manifest
    from translations_assets.running.protocols import Reading
    from translations_assets.running.session import Session
    from translations_assets.store.durable import DurableStore
    from translations_assets.store.gc import Collected
    from translations_assets.store.verify import Sample, Verified

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, or the beginning of one, as `translations status` prints it.",
        autocompletion=completion.runs,
    ),
]
_RULES = Rules()
_OWNERS = 5  # printed of each file


@common.reads
def verify(
    sample: Annotated[
        str,
        typer.Option(metavar="N|N%", help="Re-hash this many contents, or a share of them. Defaults to all."),
    ] = "",
    seed: Annotated[
        int | None, typer.Option(help="Draw the same sample as the run that printed this seed.")
    ] = None,
    json: Json = False,
) -> None:
    """Read every file of the store and re-hash contents; damaged files are moved to quarantine/.

    Names each damaged, missing or strange file with the steps that it belongs to and what becomes of them.
    Exits with 1 when there is one.
    """
    from translations_assets.store.verify import verify as verify_store

    store, base = own_and_base()
    chosen = _sample(sample)
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    verified = verify_store(
        store, sample=chosen, seed=seed, progress=Progress("re-hashed", size=True), base=base
    )
    if json:
        print_json(
            {**_verified_values(verified), "sample": sample or None, "seed": None if chosen is None else seed}
        )
    else:
        _print_verified(verified, str(store), "" if chosen is None else f" (a sample; seed {seed})")
    if verified.problems:
        raise typer.Exit(exits.FAILED)


@common.reads
def gc(
    keep_days: Annotated[
        float, typer.Option(min=0, help="Keep files made or used within this many days.")
    ] = _RULES.keep_days,
    keep_refs: Annotated[
        int, typer.Option(min=0, help="Keep this many of each stage's last results.")
    ] = _RULES.keep_refs,
    grace_days: Annotated[
        float, typer.Option(min=0, help="Keep contents stored or reused within this many days.")
    ] = _RULES.grace_days,
    delete: Annotated[
        bool, typer.Option("--delete", help="Free the space. Without this, only count it.")
    ] = False,
    json: Json = False,
) -> None:
    """Count the space that the store could free, by stage; free it with --delete.

    It always keeps what pinned and running runs use, exports, and the last results of each stage, in each
    space and partition. The provenance of their inputs stays, with code and config, even if the files go.
    """
    from translations_assets.store.gc import collect

    store, _ = own_and_base()
    collected = collect(store, Rules(keep_days, keep_refs, grace_days), delete=delete)
    if json:
        print_json({**asdict(collected), "total": asdict(collected.total())})
    else:
        _print_collected(collected, str(store))


@common.reads
def pin(
    run: Run,
    reason: Annotated[str, typer.Option(help="The reason, for people who ask later.")] = "",
    json: Json = False,
) -> None:
    """Keep everything that a run uses, until it is unpinned."""
    store = this_project().store
    run = common.whole_id(run, store.runs(), "The store has no run", "translations status")
    store.pin(run, reason)
    record = store.read_run(run)
    uses = set(record.uses.values()) if record else set()
    missing = sum(store.generation(*used) is None for used in uses)
    lacking = f"; {missing:,} of them are not there any more" if missing else ""
    others, (own, base) = 0, own_and_base()
    if base:
        others = sum(own.generation(*used) is None and base.generation(*used) is not None for used in uses)
        lacking += f"; {others:,} are those of {base.url}, where this pin keeps nothing" if others else ""
    print_answer(
        json,
        {"run": run, "artifacts": len(uses), "missing": missing, "only_in_base": others},
        f"Pinned {run}: its {len(uses):,} artifacts are kept{lacking}.",
    )


@common.reads
def unpin(run: Run, json: Json = False) -> None:
    """Let the garbage collector free a pinned run's results like all others."""
    store = this_project().store
    run = common.whole_id(run, store.pins(), "There is no pinned run", "translations cache pins")
    store.unpin(run)
    print_answer(json, {"run": run}, f"Unpinned {run}.")


@common.reads
def list_pins(json: Json = False) -> None:
    """List the pinned runs, since when, and why."""
    store = this_project().store
    pins = store.pins()
    if json:
        print_json([asdict(pin) for pin in pins.values()])
        return
    for pin in pins.values():
        record = store.read_run(pin.run)
        partition = record.partition if record else ""
        since = time.strftime("%Y-%m-%d", time.localtime(pin.time))
        typer.echo("  ".join(filter(None, (since, pin.run, partition, pin.reason))))
    if not pins:
        typer.echo("No run is pinned. To pin one: translations cache pin RUN")


def accept(
    partition: Partition,
    what: Annotated[
        str,
        typer.Argument(
            metavar="LABEL|SYMBOL",
            help="A step, or one changed symbol as explain names it: pipeline.train.train:build_args.",
            autocompletion=completion.labels,
        ),
    ],
    reason: Annotated[str, typer.Option(help="Why the change does not change what the step makes.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Declare a change of code harmless: earlier results then count as results of the current code.

    Compares the code with that of the step's nearest earlier artifact and writes what changed to
    pipeline/accepted-changes.yml, to be committed. A later change of the same code runs the steps again.
    To undo, delete the lines.
    """
    from translations_assets.keys.code.accepted import FILE, Accepted, add_changes
    from translations_assets.keys.key import KeyMaker

    common.check_asks_nothing(json, yes)
    if not reason.strip():
        raise TranslationsError("--reason is empty: say why the change is harmless.")
    project, session = this_project(), common.reading_session(partition)
    graph = session.graph
    symbol = what if ":" in what and what not in graph.by_label else ""
    steps = _reaching(project, graph, symbol) if symbol else [common.find_step(graph, partition, what)]
    step, earlier = _earlier(project, session, steps, what)
    path = project.root / FILE
    accepted = Accepted.read(path)
    found, changed = _compare(project, step, earlier, accepted, reason.strip(), symbol)
    _check(found, earlier, step, symbol)
    if not json:
        _print_changes(step, earlier, changed, found)
    yes or typer.confirm("Do these changes leave the results as they are?", abort=True)
    before = _digests(project.keys, graph)
    add_changes(path, found.changes)
    after = _digests(KeyMaker(project.root), graph)
    labels = [step.label for step in graph.steps if before[step.script] != after[step.script]]
    few = ", ".join(labels[:3]) + (f" and {len(labels) - 3} more" if len(labels) > 3 else "")
    print_answer(
        json,
        {"file": str(path), "changes": [change.symbol for change in found.changes], "other_keys": labels},
        f"Written to {path}; commit it. Other keys than a moment ago: {few or 'none'}.",
    )


def _print_changes(step: Step, earlier: Manifest, changed: Sequence[str], found: Acceptance) -> None:
    """Print what is to be accepted."""
    typer.echo(f"{step.script}, since {earlier.label} was made:")
    for line in changed:
        typer.echo(f"  {line}")
    typer.echo("To be accepted, each with all that it reaches:")
    for change in found.changes:
        typer.echo(f"  {change.symbol}")


def _sample(text: str) -> Sample:
    if not text:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if match and float(match[1]) <= 100:
        return float(match[1]) / 100
    if text.isdecimal():
        return int(text)
    raise TranslationsError(f"--sample {text} is neither a number of contents nor a share up to 100%.")


def _verified_values(verified: Verified) -> dict[str, Any]:
    problems = [
        {**asdict(one), "owners": [{**asdict(owner), "remedy": owner.remedy()} for owner in one.owners]}
        for one in verified.problems
    ]
    return {"checked": verified.checked, "hashed_bytes": verified.hashed_bytes, "problems": problems}


def _print_verified(verified: Verified, root: str, sample: str) -> None:
    from rich.filesize import decimal

    for problem in verified.problems:
        aside = "; moved to quarantine/" if problem.aside else ""
        typer.echo(f"{problem.kind:8} {problem.path}: {problem.reason}{aside}")
        for owner in problem.owners[:_OWNERS]:
            where = ", ".join(filter(None, (owner.stage, owner.partition)))
            typer.echo(f"    {owner.label} ({where}), {owner.name}: {owner.remedy()}")
        if problem.owners[_OWNERS:]:
            typer.echo(f"    and {len(problem.owners) - _OWNERS} more steps")
    counts = ", ".join(f"{number:,} {kind}" for kind, number in verified.checked.items() if number)
    typer.echo(f"{root}: {counts or 'nothing there'}; {decimal(verified.hashed_bytes)} re-hashed{sample}")
    found = len(verified.problems)
    typer.echo(f"{found} file{'s are' if found > 1 else ' is'} not whole" if found else "All is whole.")


def _print_collected(collected: Collected, root: str) -> None:
    from rich.filesize import decimal

    rows = [(stage, share, "artifacts") for stage, share in collected.stages.items()]
    rows += [(kind, share, "files") for kind, share in collected.rest.items()]
    for name, share, what in rows:
        typer.echo(f"{name:32}{share.count:>10,} {what:10}{decimal(share.bytes):>12}")
    total, kept, later = collected.total(), collected.kept, collected.later
    done = "Freed" if collected.deleted else "Would free"
    typer.echo(f"{done} {decimal(total.bytes)} of {total.count:,} artifacts in {root}.")
    if later.count:
        held = f" the end of {', '.join(collected.running)} and" if collected.running else ""
        typer.echo(f"Another {decimal(later.bytes)} can be freed after{held} the days of grace.")
    pinned = f", for {len(collected.pinned)} pinned runs among others" if collected.pinned else ""
    typer.echo(f"Kept: {kept.count:,} artifacts, {decimal(kept.bytes)}{pinned}.")
    if not collected.deleted and (total.bytes or total.count):
        typer.echo("Nothing was removed. To do so, add --delete.")


def own_and_base() -> tuple[DurableStore[Any], Reading | None]:
    """The project's own store, in a folder or a bucket, and its base store, if there is one."""
    from translations_assets.store.overlay import OverlayStore

    store = this_project().store
    own, base = (store.own, store.base) if isinstance(store, OverlayStore) else (store, None)
    return cast("DurableStore[Any]", own), base  # as all that `open_store` opens


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

    explainer = project.explainer(session.config, project.history(session.partition))
    made = session.plan(session.graph.steps).results()
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
    """Return the change to accept, and lines that describe it for people."""
    from translations_assets.keys.code.compare import code_changes, find_changes
    from translations_assets.keys.code.fingerprint import CodeBase
    from translations_assets.runners.work_folder import unpack

    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bundle.tar"
        project.store.place_blob(earlier.bundle, bundle)
        unpack(bundle, Path(folder) / "code", f"of {earlier.label}")
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
        print_note(f"{step.label} still runs: its code differs in more than {symbol}")


def _digests(keys: KeyMaker, graph: Graph) -> dict[str, str]:
    return {script: keys.fingerprint(script).digest for script in {s.script for s in graph.steps}}
