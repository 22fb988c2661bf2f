"""`translations cache gc`: frees what nothing needs any more."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.common import Json, print_json
from translations_assets.cli.upkeep import durable_store, size
from translations_assets.project import Project
from translations_assets.records.retention import Rules

if TYPE_CHECKING:
    from translations_assets.store.gc import Collected

_RULES = Rules()


def command(
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

    store = durable_store(Project())
    collected = collect(store, Rules(keep_days, keep_refs, grace_days), delete=delete)
    if json:
        print_json({**asdict(collected), "total": asdict(collected.total())})
    else:
        _print(collected, str(store))


def _print(collected: Collected, root: str) -> None:
    rows = [(stage, share, "artifacts") for stage, share in collected.stages.items()]
    rows += [(kind, share, "files") for kind, share in collected.rest.items()]
    for name, share, what in rows:
        typer.echo(f"{name:32}{share.count:>10,} {what:10}{size(share.bytes):>12}")
    total, kept, later = collected.total(), collected.kept, collected.later
    done = "Freed" if collected.deleted else "Would free"
    typer.echo(f"{done} {size(total.bytes)} of {total.count:,} artifacts in {root}.")
    if later.count:
        held = f" the end of {', '.join(collected.running)} and" if collected.running else ""
        typer.echo(f"Another {size(later.bytes)} can be freed after{held} the days of grace.")
    pinned = f", for {len(collected.pinned)} pinned runs among others" if collected.pinned else ""
    typer.echo(f"Kept: {kept.count:,} artifacts, {size(kept.bytes)}{pinned}.")
    if not collected.deleted and (total.bytes or total.count):
        typer.echo("Nothing was removed. To do so, add --delete.")
