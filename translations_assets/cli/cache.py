"""`translations cache`: the contents of the store, and accepted changes of code."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.filesize import decimal

from translations_assets.cli import common, completion
from translations_assets.cli.common import Json, Partition
from translations_assets.cli.output import print_answer, print_json
from translations_assets.common.errors import TranslationsError
from translations_assets.common.listing import some
from translations_assets.graph.step import Step
from translations_assets.keys.accepted_files import accepted_files, read_accepted
from translations_assets.keys.code.accepted import Change, add_changes
from translations_assets.keys.code.fingerprint import CodeBase
from translations_assets.keys.key import KeyMaker
from translations_assets.project import Project, this_project
from translations_assets.records.manifest import Manifest
from translations_assets.records.retention import Rules
from translations_assets.runners.work_folder import unpack
from translations_assets.running.plan import Plan
from translations_assets.running.protocols import Reading
from translations_assets.running.session import Session
from translations_assets.runs.known import whole_id
from translations_assets.store.durable import DurableStore
from translations_assets.store.gc import Collected, collect
from translations_assets.store.overlay import OverlayStore

Run = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's id, or the beginning of one, as `translations status` prints it.",
        autocompletion=completion.runs,
    ),
]
_RULES = Rules()


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
    run = whole_id(run, store.runs(), "The store has no run", "translations status")
    gone = store.pin(run, reason).gone
    record = store.read_run(run)
    uses = record.uses if record else {}
    (_, base), lost = own_and_base(), {uses[label] for label in gone}
    others = sum(base.generation(*used) is not None for used in lost) if base else 0
    missing = len(lost) - others
    lacking = f"; already gone: {missing:,}" if missing else ""
    lacking += f"; {others:,} are those of {base}, where this pin keeps nothing" if others else ""
    artifacts = len(set(uses.values()))
    print_answer(
        json,
        {"run": run, "artifacts": artifacts, "missing": missing, "only_in_base": others},
        f"Pinned {run}: its {artifacts:,} artifacts are kept{lacking}.",
    )


@common.reads
def unpin(run: Run, json: Json = False) -> None:
    """Let the garbage collector free a pinned run's results like all others."""
    store = this_project().store
    run = whole_id(run, store.pins(), "There is no pinned run", "translations cache pins")
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
        gone = f"gone by then: {', '.join(pin.gone)}" if pin.gone else ""
        typer.echo("  ".join(filter(None, (since, pin.run, partition, pin.reason, gone))))
    if not pins:
        typer.echo("No run is pinned. To pin one: translations cache pin RUN")


def accept(
    partition: Partition,
    reason: Annotated[str, typer.Option(help="Why the change does not change what the steps make.")],
    labels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LABEL]...",
            help="Steps whose scripts have changed. Defaults to all that would run again for their code.",
            autocompletion=completion.labels,
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Declare a change of code harmless: earlier results then count as results of the current code.

    Compares each script with the code of its step's nearest earlier artifact, prints what changed and which
    steps are then cached, and writes a line for each script to pipeline/accepted-changes.yml, to be
    committed; where the code is an installed wheel, to accepted-changes.yml in the project folder. A later
    change of a script runs its steps again. To undo, delete the lines.
    """
    common.check_asks_nothing(json, yes)
    if not reason.strip():
        raise TranslationsError("--reason is empty: say why the change is harmless.")
    project, session = this_project(), common.reading_session(partition)
    steps = [common.find_step(session.graph, partition, label) for label in labels or ()]
    plan = session.plan(session.graph.steps)
    found = _changed_scripts(project, session, plan, steps)
    changes = [Change(one.script, one.earlier, one.digest, reason.strip()) for one in found]
    cached = _then_cached(project, session, plan, changes)
    if not json:
        _print_changes(found)
        typer.echo(f"Cached with that: {some(cached) or 'no further step'}")
    yes or typer.confirm("Do these changes leave the results as they are?", abort=True)
    path = accepted_files(project.root)[-1]
    add_changes(path, changes)
    print_answer(
        json,
        {"file": str(path), "changes": [change.script for change in changes], "cached": cached},
        f"Written to {path}; commit it.",
    )


def _print_collected(collected: Collected, root: str) -> None:
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
    store = this_project().store
    own, base = (store.own, store.base) if isinstance(store, OverlayStore) else (store, None)
    return cast("DurableStore[Any]", own), base  # as all that `open_store` opens


@dataclass(frozen=True)
class _ChangedScript:
    """A script that has changed since a step's earlier artifact was made; the digests of its code."""

    script: str
    label: str
    changes: tuple[str, ...]
    earlier: str
    digest: str


def _changed_scripts(
    project: Project, session: Session, plan: Plan, steps: Sequence[Step]
) -> list[_ChangedScript]:
    """The steps' scripts, or those of all steps that are not cached, where other code made an artifact."""
    from translations_assets.why.explain import known_parts

    explainer = project.explainer(session.config, project.history(session.partition))
    made, found = plan.results(), dict[str, _ChangedScript]()
    for step in steps or [planned.step for planned in plan.steps if planned.may_run]:
        if step.script not in found:
            earlier = explainer.explain(step, known_parts(project.keys, step, made)).earlier
            try:
                found[step.script] = _compare(project, step, earlier)
            except _NothingToAcceptError:
                if steps:
                    raise
    if not found:
        raise TranslationsError(
            f"There is nothing to accept for {session.partition}: no step would run again for its code."
        )
    return [*found.values()]


class _NothingToAcceptError(TranslationsError):
    """A step has no earlier artifact that the current code could count for."""


def _compare(project: Project, step: Step, earlier: Manifest | None) -> _ChangedScript:
    """What changed in a step's script since an artifact was made."""
    parts, now = earlier and earlier.provenance.parts, project.keys.fingerprint(step.script)
    if not earlier or not parts or parts.script != step.script or parts.code == now.digest:
        raise _NothingToAcceptError(
            f"There is nothing to accept for {step.label}: no earlier artifact of it was made by other code."
        )
    with tempfile.TemporaryDirectory() as folder:
        bundle = Path(folder) / "bundle.tar"
        project.store.place_blob(earlier.bundle, bundle)
        unpack(bundle, Path(folder) / "code", f"of {earlier.label}")
        old = CodeBase(Path(folder) / "code", read_accepted(project.root))
        before = old.fingerprint(step.script)
        if before.digest != parts.code:
            raise _NothingToAcceptError(
                f"{earlier.label} was made under another form of keys, or with accepted changes that have "
                "been deleted since: nothing that could be accepted leads back to its key."
            )
        changes = tuple(project.keys.code_changes(step.script, old))
        return _ChangedScript(step.script, earlier.label, changes, before.own, now.digest)


def _then_cached(project: Project, session: Session, plan: Plan, changes: Sequence[Change]) -> list[str]:
    """The labels of the steps that are cached with some changes accepted, and not without."""
    keys = KeyMaker(project.root, project.files, accepted=changes)
    plans = plan, replace(session, keys=keys).plan(session.graph.steps)
    before, after = ({one.step.label for one in plan.steps if one.status == "cached"} for plan in plans)
    return [step.label for step in session.graph.steps if step.label in after - before]


def _print_changes(found: Sequence[_ChangedScript]) -> None:
    """Print what changed, and for which scripts."""
    for changes in dict.fromkeys(one.changes for one in found):
        for line in changes:
            typer.echo(line)
        for one in found:
            if one.changes == changes:
                typer.echo(f"  in {one.script}, since {one.label} was made")
