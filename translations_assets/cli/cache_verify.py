"""`translations cache verify`: whether the store is whole, and its steps are repeatable."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

from translations_assets.cli import common, exits
from translations_assets.cli.cache import own_and_base
from translations_assets.cli.common import Json
from translations_assets.cli.output import ProgressPrinter, print_json
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import file_folders, state_folder
from translations_assets.project import this_project
from translations_assets.store.verify import Sample, Verified, draw
from translations_assets.store.verify import verify as verify_store

if TYPE_CHECKING:
    from translations_assets.runners.remake import Elsewhere, Remade

_OWNERS = 5  # printed of each file
_ELSEWHERE = "Steps made again (--remake)"


@common.reads
def verify(
    sample: Annotated[
        str,
        typer.Option(metavar="N|N%", help="Re-hash this many contents, or a share of them. Defaults to all."),
    ] = "",
    seed: Annotated[
        int | None, typer.Option(help="Draw the same sample as the run that printed this seed.")
    ] = None,
    remake: Annotated[
        str,
        typer.Option(
            metavar="N|N%",
            help="Make this many repeatable steps again, or a share of them, and compare bytes. Nothing else "
            "is read.",
            rich_help_panel=_ELSEWHERE,
        ),
    ] = "",
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Make them in this folder. Defaults to the state folder.",
            rich_help_panel=_ELSEWHERE,
        ),
    ] = None,
    python: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Make them with the interpreter of another environment.",
            rich_help_panel=_ELSEWHERE,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Give each this many threads.", rich_help_panel=_ELSEWHERE),
    ] = None,
    locale: Annotated[
        str,
        typer.Option(help="Start their workers in another locale.", rich_help_panel=_ELSEWHERE),
    ] = "",
    umask: Annotated[
        str,
        typer.Option(
            metavar="OCTAL", help="Start their workers with this umask.", rich_help_panel=_ELSEWHERE
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Read every file of the store and re-hash contents; damaged files are moved to quarantine/.

    Names each damaged, missing or strange file with the steps that it belongs to and what becomes of them.
    Exits with 1 when there is one.

    With --remake it makes steps again instead, whose bytes are to be the same wherever they are made, from
    their code and inputs in the store, and names the first difference of each that has other bytes. The
    store stays as it is. Exits with 1 when there is a difference, or a step cannot be made.
    """
    if sample and remake:
        raise TranslationsError("--sample is of contents and --remake of steps: give one of them.")
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    if remake:
        where = _elsewhere(folder, python, threads, locale, umask)
        has_failed = _remake(_share("--remake", remake, "steps"), where, seed, json)
    else:
        has_failed = _verify(_share("--sample", sample, "contents") if sample else None, sample, seed, json)
    if has_failed:
        raise typer.Exit(exits.FAILED)


def _share(option: str, text: str, kind: str) -> float | int:
    """Read a number, or a share as a fraction."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if match and float(match[1]) <= 100:
        return float(match[1]) / 100
    if text.isdecimal():
        return int(text)
    raise TranslationsError(f"{option} {text} is neither a number of {kind} nor a share up to 100%.")


def _verify(chosen: Sample, sample: str, seed: int, json: bool) -> bool:
    """Read the store; True if something is wrong."""
    store, base = own_and_base()
    verified = verify_store(
        store, sample=chosen, seed=seed, progress=ProgressPrinter("re-hashed", size=True), base=base
    )
    if json:
        print_json(
            {**_verified_values(verified), "sample": sample or None, "seed": None if chosen is None else seed}
        )
    else:
        _print_verified(verified, str(store), "" if chosen is None else f" (a sample; seed {seed})")
    return bool(verified.problems)


def _elsewhere(
    folder: Path | None, python: Path | None, threads: int | None, locale: str, umask: str
) -> Elsewhere:
    from translations_assets.runners.local import WorkerStart
    from translations_assets.runners.remake import Elsewhere

    if python and not python.is_file():
        raise TranslationsError(f"--python {python} is no interpreter: give such as .venv/bin/python.")
    if umask and not re.fullmatch("[0-7]{1,4}", umask):
        raise TranslationsError(f"--umask {umask} is no umask: give octal digits, such as 077.")
    start = WorkerStart(
        threads=threads,
        variables={"LC_ALL": locale, "LANG": locale} if locale else {},
        umask=int(umask, 8) if umask else -1,
        **({"python": str(python.absolute())} if python else {}),
    )
    return Elsewhere((folder or state_folder() / "remade").absolute(), start, file_folders())


def _remake(share: float | int, where: Elsewhere, seed: int, json: bool) -> bool:
    """Make steps again; True if one is not the same."""
    from translations_assets.runners.remake import lacking, remake, repeatable

    store, (own, _) = this_project().store, own_and_base()
    known = repeatable(own)
    numbers = draw(range(len(known)), share, random.Random(seed))
    chosen = [known[number] for number in sorted(numbers)]
    lacks = {each.key: lacking(store, each) for each in chosen}  # different results may have one label
    possible = [each for each in chosen if not lacks[each.key]]
    made = remake(store, possible, where, lambda one: None if json else _print_remade(one))
    failed = [one for one in made if not one.is_same]
    if json:
        left = {key: gone for key, gone in lacks.items() if gone}
        print_json(_remade_values(made, left, len(known), seed))
    else:
        for each in chosen:
            if gone := lacks[each.key]:
                typer.echo(f"{'left out':8} {each.label}: the store has no more {gone}")
        same = len(made) - len(failed)
        typer.echo(f"{same:,} of {len(made):,} steps have the same bytes (seed {seed}).")
        typer.echo(f"The store {own} has {len(known):,} results of steps that are repeatable.")
    return bool(failed)


def _print_remade(one: Remade) -> None:
    manifest = one.manifest
    kind = "failed" if one.failed else "differs" if one.different else "same"
    where = ", ".join(filter(None, (manifest.provenance.stage, manifest.provenance.partition)))
    typer.echo(f"{kind:8} {manifest.label} ({where})")
    if one.failed:
        typer.echo(f"    {one.failed}")
    for name, difference in one.different.items():
        typer.echo(f"    {name}: {difference}")


def _remade_values(made: Sequence[Remade], left: dict[str, str], known: int, seed: int) -> dict[str, Any]:
    steps = [
        {
            "label": one.manifest.label,
            "stage": one.manifest.provenance.stage,
            "partition": one.manifest.provenance.partition,
            "key": one.manifest.key,
            "same": one.is_same,
            "failed": one.failed,
            "different": one.different,
        }
        for one in made
    ]
    return {"repeatable": known, "steps": steps, "left_out": left, "seed": seed}


def _verified_values(verified: Verified) -> dict[str, Any]:
    problems = [
        {**asdict(one), "owners": [{**asdict(owner), "remedy": owner.remedy()} for owner in one.owners]}
        for one in verified.problems
    ]
    return {"checked": verified.checked, "hashed_bytes": verified.hashed_bytes, "problems": problems}


def _print_verified(verified: Verified, root: str, sample: str) -> None:
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
