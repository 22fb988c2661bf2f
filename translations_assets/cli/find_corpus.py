"""`translations find-corpus`: the datasets that there are of a language pair."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import Json, print_json, print_table
from translations_assets.generate.search import SOURCES, USUAL, search
from translations_assets.settings import mirror

if TYPE_CHECKING:
    from collections.abc import Sequence

    from translations_assets.config.providers.found import Found


def _source(names: list[str] | None) -> list[str] | None:
    for name in names or ():
        if name not in SOURCES:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(SOURCES)}.")
    return names


def command(
    src: Annotated[str, typer.Argument(help="A language's code, such as `en`, `lt`, `zh_hant`.")],
    trg: Annotated[str, typer.Argument(help="Another language's code.")],
    importer: Annotated[
        list[str] | None,
        typer.Option(
            metavar=f"[{'|'.join(SOURCES)}]",
            callback=_source,
            help="Ask this source only; may be repeated. All but huggingface_any by default.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the datasets of a language pair, and what a generated config uses them for.

    Sizes with ~ are estimates from sizes of files. JSON also has the addresses.

    When a source cannot be reached, the others are listed, standard error names
    it, and the exit code is 1.
    """
    from translations_assets.generate.choose import judge
    from translations_assets.generate.config import pair_of

    query = pair_of(src, trg, mirror())
    searched = search(query, importer or USUAL)
    found = list(judge(searched.found))
    if json:
        print_json({"datasets": list(map(asdict, found)), "problems": list(map(asdict, searched.problems))})
    else:
        _print(found)
    for problem in searched.problems:
        typer.echo(f"warning: {problem.importer}: {problem.message}", err=True)
    if searched.problems:
        raise typer.Exit(1)


def _print(found: Sequence[Found]) -> None:
    from rich.table import Table
    from rich.text import Text

    from translations_assets.generate.write import size_text

    table = Table("dataset", "size", "licence", "used for")
    before = ""
    for each in found:
        if before and each.importer != before:
            table.add_section()
        before = each.importer
        used = f"not used: {each.skipped}" if each.skipped else each.use
        table.add_row(*map(Text, (each.key, size_text(each), each.licence, used)))
    print_table(table)
