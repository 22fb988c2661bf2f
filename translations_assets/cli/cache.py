"""`translations cache`: what the store keeps, and what counts as made."""

from __future__ import annotations

import random
import re
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

from translations_assets.cli import cache_accept
from translations_assets.cli.common import Json, print_json
from translations_assets.errors import TranslationsError
from translations_assets.project import Project, this_project
from translations_assets.records.retention import Rules

if TYPE_CHECKING:
    from collections.abc import Iterable

    from translations_assets.running.protocols import Reading
    from translations_assets.store.durable import DurableStore
    from translations_assets.store.gc import Collected
    from translations_assets.store.verify import Problem, Sample, Verified

app = typer.Typer(no_args_is_help=True, help="What the store keeps, and what counts as made.")

Run = Annotated[str, typer.Argument(help="A run's id, or how it begins, as `translations status` prints it.")]
_RULES = Rules()
_OWNERS = 5  # printed of each file
_SECONDS = 2.0  # between two lines of progress


@app.command()
def verify(
    sample: Annotated[
        str,
        typer.Option(metavar="N|N%", help="Re-hash so many contents, or a share of them; all by default."),
    ] = "",
    seed: Annotated[
        int | None, typer.Option(help="Draw the same sample as the run that printed this seed.")
    ] = None,
    json: Json = False,
) -> None:
    """Read every file of the store and re-hash contents; damaged files are put aside in quarantine/.

    Names each damaged, missing or strange file with the steps that it belongs to and what becomes of them.
    Exits with 1 when there is one.
    """
    from translations_assets.store.verify import verify as verify_store

    project = this_project()
    store = _durable_store(project)
    chosen = _sample(sample)
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    verified = verify_store(store, sample=chosen, seed=seed, progress=_HashProgress(), base=_base_of(project))
    if json:
        print_json(
            {**_verified_values(verified), "sample": sample or None, "seed": None if chosen is None else seed}
        )
    else:
        _print_verified(verified, str(store), "" if chosen is None else f" (a sample; seed {seed})")
    if verified.problems:
        raise typer.Exit(1)


@app.command()
def gc(
    keep_days: Annotated[
        float, typer.Option(min=0, help="Keep what was made or used within so many days.")
    ] = _RULES.keep_days,
    keep_refs: Annotated[
        int, typer.Option(min=0, help="Keep what the last so many results of each stage name.")
    ] = _RULES.keep_refs,
    grace_days: Annotated[
        float, typer.Option(min=0, help="Free no contents that were stored or found within so many days.")
    ] = _RULES.grace_days,
    delete: Annotated[
        bool, typer.Option("--delete", help="Free it; without this it is only counted.")
    ] = False,
    json: Json = False,
) -> None:
    """Count, by stage, what the store could free, and free it with --delete.

    Always kept: what pinned and running runs use, exports, and what the last results of each stage name, in
    each space and partition. How an input of something kept was made stays known, with its code and config,
    although its files go.
    """
    from translations_assets.store.gc import collect

    store = _durable_store(this_project())
    collected = collect(store, Rules(keep_days, keep_refs, grace_days), delete=delete)
    if json:
        print_json({**asdict(collected), "total": asdict(collected.total())})
    else:
        _print_collected(collected, str(store))


@app.command()
def pin(
    run: Run,
    reason: Annotated[str, typer.Option(help="Why, for whoever wonders later.")] = "",
) -> None:
    """Keep everything that a run uses, until it is unpinned."""
    project = this_project()
    store = project.store
    run = _whole_id(run, store.runs(), "The store has no run", "translations status")
    store.pin(run, reason)
    record = store.read_run(run)
    uses = set(record.uses.values()) if record else set()
    gone = sum(store.generation(key, generation) is None for key, generation in uses)
    lacking = f"; {gone:,} of them are not there any more" if gone else ""
    if base := _base_of(project):
        own = _durable_store(project)
        others = sum(own.generation(*used) is None and base.generation(*used) is not None for used in uses)
        lacking += f"; {others:,} are those of {base.url}, where this pin keeps nothing" if others else ""
    typer.echo(f"Pinned {run}: its {len(uses):,} artifacts are kept{lacking}.")


@app.command()
def unpin(run: Run) -> None:
    """Let what a pinned run uses be collected like everything else."""
    store = this_project().store
    run = _whole_id(run, store.pins(), "There is no pinned run", "translations cache pins")
    store.unpin(run)
    typer.echo(f"Unpinned {run}.")


@app.command("pins")
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


app.command("accept")(cache_accept.command)


def _sample(text: str) -> Sample:
    if not text:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if match and float(match[1]) <= 100:
        return float(match[1]) / 100
    if text.isdecimal():
        return int(text)
    raise TranslationsError(f"--sample {text} is neither a number of contents nor a share up to 100%.")


class _HashProgress:
    """Prints how far the hashing is, on standard error, when it takes longer."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _SECONDS

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS * (1 if sys.stderr.isatty() else 15)
            typer.echo(f"re-hashed {decimal(done)} of {decimal(total)}", err=True)


def _verified_values(verified: Verified) -> dict[str, Any]:
    return {
        "checked": verified.checked,
        "hashed_bytes": verified.hashed_bytes,
        "problems": [_problem_verified_values(problem) for problem in verified.problems],
    }


def _problem_verified_values(problem: Problem) -> dict[str, Any]:
    owners = [{**asdict(owner), "remedy": owner.remedy()} for owner in problem.owners]
    return {**asdict(problem), "owners": owners}


def _print_verified(verified: Verified, root: str, sample: str) -> None:
    for problem in verified.problems:
        aside = "; put aside in quarantine/" if problem.aside else ""
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


def _whole_id(name: str, runs: Iterable[str], none: str, listing: str) -> str:
    """The run whose id is a name, or begins so. TranslationsError when there is none, or several."""
    found = [run for run in runs if run.startswith(name)]
    if name in found or len(found) == 1:
        return name if name in found else found[0]
    if found:
        raise TranslationsError(
            f"Several runs begin with {name}: {', '.join(sorted(found)[:5])}. Give more of it."
        )
    raise TranslationsError(f"{none} {name}. To list them: {listing}")


def _durable_store(project: Project) -> DurableStore[Any]:
    """The project's own store, in a folder or a bucket. Raises TranslationsError when it is in memory."""
    from translations_assets.store.durable import DurableStore
    from translations_assets.store.overlay import OverlayStore

    store = project.store.own if isinstance(project.store, OverlayStore) else project.store
    if not isinstance(store, DurableStore):
        raise TranslationsError(f"The store {store.url} keeps nothing: there is nothing to look after.")
    return store


def _base_of(project: Project) -> Reading | None:
    """The store that the project's own one stands over; None without one."""
    from translations_assets.store.overlay import OverlayStore

    return project.store.base if isinstance(project.store, OverlayStore) else None
