"""`translations cache verify`: whether the store's files are what they were."""

from __future__ import annotations

import random
import re
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from translations_assets.cli.common import Json, print_json
from translations_assets.cli.upkeep import base_of, durable_store, size
from translations_assets.errors import TranslationsError
from translations_assets.project import Project

if TYPE_CHECKING:
    from translations_assets.store.owners import Problem
    from translations_assets.store.verify import Sample, Verified

_OWNERS = 5  # printed of each file
_SECONDS = 2.0  # between two lines of progress


def command(
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
    from translations_assets.store.verify import verify

    project = Project()
    store = durable_store(project)
    chosen = _sample(sample)
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    verified = verify(store, sample=chosen, seed=seed, progress=_Progress(), base=base_of(project))
    if json:
        print_json({**_values(verified), "sample": sample or None, "seed": None if chosen is None else seed})
    else:
        _print(verified, str(store), "" if chosen is None else f" (a sample; seed {seed})")
    if verified.problems:
        raise typer.Exit(1)


def _sample(text: str) -> Sample:
    if not text:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if match and float(match[1]) <= 100:
        return float(match[1]) / 100
    if text.isdecimal():
        return int(text)
    raise TranslationsError(f"--sample {text} is neither a number of contents nor a share up to 100%.")


class _Progress:
    """Prints how far the hashing is, on standard error, when it takes longer."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _SECONDS

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _SECONDS * (1 if sys.stderr.isatty() else 15)
            typer.echo(f"re-hashed {size(done)} of {size(total)}", err=True)


def _values(verified: Verified) -> dict[str, Any]:
    return {
        "checked": verified.checked,
        "hashed_bytes": verified.hashed_bytes,
        "problems": [_problem_values(problem) for problem in verified.problems],
    }


def _problem_values(problem: Problem) -> dict[str, Any]:
    owners = [{**asdict(owner), "remedy": owner.remedy()} for owner in problem.owners]
    return {**asdict(problem), "owners": owners}


def _print(verified: Verified, root: str, sample: str) -> None:
    for problem in verified.problems:
        aside = "; put aside in quarantine/" if problem.aside else ""
        typer.echo(f"{problem.kind:8} {problem.path}: {problem.reason}{aside}")
        for owner in problem.owners[:_OWNERS]:
            where = ", ".join(filter(None, (owner.stage, owner.partition)))
            typer.echo(f"    {owner.label} ({where}), {owner.name}: {owner.remedy()}")
        if problem.owners[_OWNERS:]:
            typer.echo(f"    and {len(problem.owners) - _OWNERS} more steps")
    counts = ", ".join(f"{number:,} {kind}" for kind, number in verified.checked.items() if number)
    typer.echo(f"{root}: {counts or 'nothing there'}; {size(verified.hashed_bytes)} re-hashed{sample}")
    found = len(verified.problems)
    typer.echo(f"{found} file{'s are' if found > 1 else ' is'} not whole" if found else "All is whole.")
