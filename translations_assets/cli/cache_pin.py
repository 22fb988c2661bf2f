"""`translations cache pin`: keep what a run uses for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from translations_assets.cli.upkeep import base_of, durable_store
from translations_assets.errors import TranslationsError
from translations_assets.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterable

Run = Annotated[str, typer.Argument(help="A run's id, or how it begins, as `translations status` prints it.")]


def command(
    run: Run,
    reason: Annotated[str, typer.Option(help="Why, for whoever wonders later.")] = "",
) -> None:
    """Keep everything that a run uses, until it is unpinned."""
    from translations_assets.records.retention import uses_of

    project = Project()
    store = project.store
    run = whole_id(run, store.runs(), "The store has no run", "translations status")
    store.pin(run, reason)
    uses = set(uses_of(store.read_run(run) or {}))
    gone = sum(store.generation(key, generation) is None for key, generation in uses)
    lacking = f"; {gone:,} of them are not there any more" if gone else ""
    if base := base_of(project):
        own = durable_store(project)
        others = sum(own.generation(*used) is None and base.generation(*used) is not None for used in uses)
        lacking += f"; {others:,} are those of {base.url}, where this pin keeps nothing" if others else ""
    typer.echo(f"Pinned {run}: its {len(uses):,} artifacts are kept{lacking}.")


def whole_id(name: str, runs: Iterable[str], none: str, listing: str) -> str:
    """The run whose id is a name, or begins so. TranslationsError when there is none, or several."""
    found = [run for run in runs if run.startswith(name)]
    if name in found or len(found) == 1:
        return name if name in found else found[0]
    if found:
        raise TranslationsError(
            f"Several runs begin with {name}: {', '.join(sorted(found)[:5])}. Give more of it."
        )
    raise TranslationsError(f"{none} {name}. To list them: {listing}")
