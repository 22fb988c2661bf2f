"""`translations cache pins`: the pinned runs."""

from __future__ import annotations

import time
from dataclasses import asdict

import typer

from translations_assets.cli.common import Json, print_json
from translations_assets.project import Project


def command(json: Json = False) -> None:
    """List the pinned runs, since when, and why."""
    store = Project().store
    pins = store.pins()
    if json:
        print_json([asdict(pin) for pin in pins.values()])
        return
    for pin in pins.values():
        partition = (store.read_run(pin.run) or {}).get("partition", "")
        since = time.strftime("%Y-%m-%d", time.localtime(pin.time))
        typer.echo("  ".join(filter(None, (since, pin.run, partition, pin.reason))))
    if not pins:
        typer.echo("No run is pinned. To pin one: translations cache pin RUN")
