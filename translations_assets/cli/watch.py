"""`translations status --watch` and `--web`: the same again and again, and the same in Dagster's UI."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from translations_assets.cli.common import this_project
from translations_assets.cli.output import print_line
from translations_assets.cli.runs import find_run, is_run, newest_runs
from translations_assets.errors import TranslationsError

if TYPE_CHECKING:
    from rich.text import Text

SECONDS = 2.0  # between two looks


class Look(NamedTuple):
    """Lines to be shown, and whether nothing will change any more."""

    lines: Sequence[str]
    is_last: bool = False


def watch(look: Callable[[], Look]) -> None:
    """Show what `look` returns until it is the last: on a terminal in its place, else whenever it changes."""
    found = look()
    if not sys.stdout.isatty():
        _print(found)
        while not found.is_last:
            time.sleep(SECONDS)
            before, found = found, look()
            if found.lines != before.lines:
                _print(found)
        return
    from rich.console import Console
    from rich.live import Live

    with Live(_text(found), console=Console(), auto_refresh=False, vertical_overflow="crop") as live:
        while not found.is_last:
            time.sleep(SECONDS)
            found = look()
            live.update(_text(found), refresh=True)


def show_page(name: str | None) -> None:
    """Print the address of the page of a run, of a partition's newest run, or of all runs, and open it."""
    import typer

    from translations_assets.server import Server
    from translations_assets.settings import server_url

    server = Server(server_url())
    address = server.run_url(_run_of(name)) if name else f"{server.url}/runs"
    print_line(address)
    if sys.stdout.isatty():
        typer.launch(address)


def _run_of(name: str) -> str:
    if is_run(name):
        run = find_run(name)
    else:
        partition = this_project().configs.read(name).partition
        runs = [run for run in newest_runs(1000) if run.partition == partition]
        if not runs:
            raise TranslationsError(f"There is no run of {name}. To list the runs: translations status")
        run = runs[0]
    if not run.dagster:
        raise TranslationsError(f"Dagster's instance here does not know the run {run.short}: it has no page.")
    return run.id


def _print(found: Look) -> None:
    for line in found.lines:
        print_line(line)


def _text(found: Look) -> Text:
    from rich.text import Text

    return Text.from_ansi("\n".join(found.lines))
