"""`translations levels`: the levels of trust, their marks, and rights that are too wide."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Annotated, Any

import typer

from translations_assets.cli import exits
from translations_assets.cli.common import Json
from translations_assets.cli.output import print_answer
from translations_assets.common.errors import StoreError, StoreUnreachable, TranslationsError
from translations_assets.project import this_project
from translations_assets.store.durable import DurableStore
from translations_assets.store.levels import Levels, Use, mark, mark_of


def levels(
    marks: Annotated[
        bool, typer.Option("--mark", help="Mark the store of your own level as that level's, once.")
    ] = False,
    tries: Annotated[
        bool,
        typer.Option(
            "--try",
            help="Try to write a file to the store of each level; exit with 1 if one above "
            "yours lets you, or your own does not.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Print the levels of trust, the highest first: which is yours, and what its stores are marked with.

    Stores of lower levels are never opened. Each store is marked once, by somebody who may write it. The mark
    guards against mistakes in the deployment file; the rights of buckets and folders guard against people,
    and --try tries them out.
    """
    known = this_project().levels
    if known is None:
        raise TranslationsError(
            "There are no levels of trust: the deployment file has no `levels` (docs/deployment.md)."
        )
    if marks:
        mark(known.place(known.own))
    rows = [_row(known, name, use, tries=tries) for name, use in known.uses()]
    print_answer(json, rows, *(_line(row, max(map(len, known.places))) for row in rows))
    if any(row["is_writable"] not in (None, row["use"] == "written") for row in rows):
        raise typer.Exit(exits.FAILED)


def _row(known: Levels, name: str, use: Use, *, tries: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "level": name,
        "store": known.places[name],
        "use": use,
        "mark": None,
        "is_writable": None,
    }
    if use != "never opened":
        place = known.place(name)
        row["mark"] = mark_of(place)
        row["is_writable"] = _is_writable(place) if tries else None
    return row


def _is_writable(place: DurableStore[Any]) -> bool:
    """Try to write a file where damaged ones are put, and remove it. Raises StoreUnreachable."""
    path = place.files.at("quarantine", f"try-{uuid.uuid4().hex}")
    try:
        place.files.create(path, b"translations levels --try\n")
    except StoreUnreachable:
        raise
    except StoreError:
        return False
    with suppress(StoreError):  # who may write, and not remove, may write
        place.files.unlink(path)
    return True


def _line(row: dict[str, Any], width: int) -> str:
    said = [row["use"]]
    if row["use"] != "never opened":
        said.append(f"marked as {row['mark']}" if row["mark"] else "not marked")
    if row["is_writable"] is not None:
        said.append("you may write it" if row["is_writable"] else "you may not write it")
    return f"{row['level']:{width}}  {row['store']}  ({', '.join(said)})"
