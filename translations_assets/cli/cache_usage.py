"""`translations cache du` and `forget`: the space of each partition and variant, and forgetting one."""

from __future__ import annotations

import json as jsons
import time
from dataclasses import asdict
from typing import Annotated

import typer
from rich.filesize import decimal

from translations_assets.cli import common
from translations_assets.cli.cache import own_and_base
from translations_assets.cli.common import Json
from translations_assets.cli.output import print_answer, print_json, print_table
from translations_assets.project import this_project
from translations_assets.store.usage import forget as forget_refs
from translations_assets.store.usage import usage


@common.reads
def du(json: Json = False) -> None:
    """List the space that the last results of each partition and variant take, alone and in all.

    A variant holds the results of runs with --set: PARTITION@ID, with the keys that differ. `alone` is the
    part that no other partition's results share. Results that nothing names are not counted: see
    `translations cache gc`.
    """
    from rich.table import Table

    store, _ = own_and_base()
    found = usage(store)
    if json:
        print_json([asdict(one) for one in found])
        return
    if not found:
        typer.echo(f"{store} has no results.")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("partition", "space", "last made", "variant"):
        table.add_column(name, overflow="fold")
    for name in ("results", "bytes", "alone"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in found:
        variant = " ".join(f"{key}={jsons.dumps(value)}" for key, value in one.overrides.items())
        made = time.strftime("%Y-%m-%d", time.localtime(one.newest))
        sizes = decimal(one.bytes), decimal(one.alone)
        table.add_row(one.partition, one.space, made, variant, f"{one.artifacts:,}", *sizes)
    print_table(table)


@common.reads
def forget(
    partition: Annotated[
        str,
        typer.Argument(metavar="PARTITION[@ID]", help="A partition, or a variant as `cache du` names it."),
    ],
    space: Annotated[
        str | None,
        typer.Option(help="Its space, as `cache du` names it. Defaults to your own."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Forget the results of a partition or a variant, so that the store may free them.

    Results that others name, pinned runs and exports stay. `translations cache gc` frees the rest once it is
    older than --keep-days. Until then a run with the same config finds it again.
    """
    common.check_asks_nothing(json, yes)
    store, _ = own_and_base()
    where = space or this_project().space
    yes or typer.confirm(f"Forget the results of {partition} in the space {where}?", abort=True)
    refs = forget_refs(store, where, partition)
    print_answer(
        json,
        {"partition": partition, "space": where, "refs": refs},
        f"Forgotten: {partition} in {where}. To free what nothing keeps: translations cache gc --delete",
    )
