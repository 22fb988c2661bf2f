"""`translations cache unpin`: a pinned run is kept no longer than others."""

from __future__ import annotations

import typer

from translations_assets.cli.cache_pin import Run, whole_id
from translations_assets.project import Project


def command(run: Run) -> None:
    """Let what a pinned run uses be collected like everything else."""
    store = Project().store
    run = whole_id(run, store.pins(), "There is no pinned run", "translations cache pins")
    store.unpin(run)
    typer.echo(f"Unpinned {run}.")
