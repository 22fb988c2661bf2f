"""Output of commands: the answer on standard output, notes and progress on standard error.

With `--quiet` an answer and errors are all. States have colours on a terminal: not in a pipe, not where
NO_COLOR is set, and everywhere where FORCE_COLOR is.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.filesize import decimal

from translations_assets.cli.streams import lacks

if TYPE_CHECKING:
    from rich.table import Table

WIDE = 10_000
_SECONDS = 2.0  # between two lines of progress
# State of a step, a run or a gate → how it is shown
STYLES = {
    **dict.fromkeys(("failed", "lost", "lost its process"), "bold red"),
    **dict.fromkeys(("run", "running"), "bold cyan"),
    **dict.fromkeys(("maybe", "ending", "cancelled", "interrupted", "not computed", "dropped"), "yellow"),
    **dict.fromkeys(("finished", "done", "passed", "kept"), "green"),
    **dict.fromkeys(("cached", "waiting", "not begun", "off", "nothing to judge", "ended"), "dim"),
}

_is_quiet = False


def be_quiet(value: bool) -> None:
    """Print answers and errors alone, or notes and progress, too."""
    global _is_quiet
    _is_quiet = value


def is_quiet() -> bool:
    """True if only answers and errors are printed."""
    return _is_quiet


def tell(text: object = "", err: bool = True) -> None:
    """Print progress unless --quiet is given."""
    if not _is_quiet:
        typer.echo(text, err=err)


def print_note(text: object) -> None:
    """Print a note on standard error."""
    tell(f"note: {text}")


class ProgressPrinter:
    """Progress of a slow operation on standard error.

    done   what is done: `planned`
    what   of what so many; bytes have sizes for people instead
    """

    def __init__(self, done: str, what: str = "", *, size: bool = False) -> None:
        self._done, self._what, self._is_size = done, what, size
        self._next = time.monotonic() + _SECONDS

    def __call__(self, done: int, total: int) -> None:
        """Note that so much is done."""
        if time.monotonic() < self._next:
            return

        self._next = time.monotonic() + _SECONDS * (1 if sys.stderr.isatty() else 15)
        many, all = (decimal(done), decimal(total)) if self._is_size else (str(done), str(total))
        tell(f"{self._done} {many} of {all} {self._what}".rstrip())


def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    typer.echo(json.dumps(value, indent=2) if lacks(text) else text)


def print_answer(json: bool, value: Any, *lines: str) -> None:
    """Print what a command has done: for programs, or in lines for people."""
    if json:
        print_json(value)
        return
    for line in lines:
        typer.echo(line)


def print_table(table: Table) -> None:
    """Print a table: as wide as the terminal, or, in a pipe or a file, as wide as its longest lines."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else WIDE).print(table)


def print_line(text: str) -> None:
    """Print a line of an answer, in which states may have colours."""
    typer.echo(text, color=has_colours())


def number_of(number: int, what: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number} {what}{'s' * (number != 1)}"


def has_colours() -> bool:
    """True if standard output has colours, by the rules of `rich`."""
    if os.environ.get("NO_COLOR"):
        return False
    is_forced, is_dumb = os.environ.get("FORCE_COLOR"), os.environ.get("TERM") in ("dumb", "unknown")
    return bool(is_forced) or (sys.stdout.isatty() and not is_dumb)


def shown(state: str, width: int = 0) -> str:
    """A state in its colour, filled up to a width."""
    words = STYLES.get(state, "").split()
    if words and has_colours():
        marks: dict[str, Any] = {word: True for word in words if word in ("bold", "dim")}
        colour = next((word for word in words if word not in marks), None)
        return typer.style(state, fg=colour, **marks) + " " * (width - len(state))
    return f"{state:{width}}"


def counts(states: Sequence[str], width: int = 0) -> str:
    """Count each state, and pad the text to a width: `3 cached, 1 run`."""
    numbers = {state: states.count(state) for state in dict.fromkeys(states)}
    plain = ", ".join(f"{number} {state}" for state, number in numbers.items())
    text = ", ".join(f"{number} {shown(state)}" for state, number in numbers.items())
    return text + " " * (width - len(plain))
