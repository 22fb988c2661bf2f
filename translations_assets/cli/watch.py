"""`translations status --watch` and `--web`: a refreshed view, and the page in Dagster's UI."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import typer

from translations_assets.cli import common
from translations_assets.cli.output import counts, print_line
from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import server_url
from translations_assets.project import this_project

if TYPE_CHECKING:
    from rich.text import Text

SECONDS = 2.0  # between two looks


# The states of steps, those first that a person looks for
URGENT = (
    *("failed", "lost", "running", "interrupted", "cancelled", "waiting", "not begun"),
    *("finished", "cached"),
)


class Block(NamedTuple):
    """Lines that belong together, and the state that sorts them."""

    state: str
    lines: Sequence[str]


class Look(NamedTuple):
    """A view of the current state, with remarks on all of it, and a flag for the last one."""

    blocks: Sequence[Block]
    whole: Sequence[str] = ()
    is_last: bool = False

    @property
    def lines(self) -> list[str]:
        """All of it."""
        return [*(line for block in self.blocks for line in block.lines), *self.whole]

    def fitted(self, most: int) -> list[str]:
        """Return at most so many lines: failed and running ones first; the rest is counted."""
        blocks = sorted(self.blocks, key=lambda block: URGENT.index(block.state))
        room, shown = most - len(self.whole), list[str]()
        while blocks and len(shown) + len(blocks[0].lines) + (len(blocks) > 1) <= room:
            shown += blocks.pop(0).lines
        hidden = counts([block.state for block in blocks])
        return [*shown, *([f"and {hidden}"] if blocks else []), *self.whole][-most:]


def watch(look: Callable[[], Look]) -> None:
    """Show what `look` returns until it is the last: on a terminal in its place, else whenever it changes.

    On a terminal as much is shown as has room; the last look is printed as a whole.
    """
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

    console = Console()
    with Live(console=console, auto_refresh=False, transient=True, vertical_overflow="crop") as live:
        while not found.is_last:
            live.update(_text(found.fitted(console.height - 1)), refresh=True)
            time.sleep(SECONDS)
            found = look()
    _print(found)


def show_page(name: str | None) -> None:
    """Print the address of the page of a run, of a partition's newest run, or of all runs, and open it."""
    from translations_assets.instance.server import Server

    server = Server(server_url())
    address = server.run_url(_run_of(name)) if name else f"{server.url}/runs"
    print_line(address)
    if sys.stdout.isatty():
        typer.launch(address)


def _run_of(name: str) -> str:
    run = common.run_named(name)
    if run is None:
        partition = this_project().configs.read(name).partition
        runs = [run for run in common.known_runs().newest(1000) if run.partition == partition]
        if not runs:
            raise TranslationsError(f"There is no run of {name}. To list the runs: translations status")
        run = runs[0]
    if not run.dagster:
        raise TranslationsError(f"Dagster's instance here does not know the run {run.short}: it has no page.")
    return run.id


def _print(found: Look) -> None:
    for line in found.lines:
        print_line(line)


def _text(lines: Sequence[str]) -> Text:
    from rich.text import Text

    return Text.from_ansi("\n".join(lines), no_wrap=True, overflow="ellipsis")
