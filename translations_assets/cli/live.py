"""Live numbers of a running step on a terminal, with a bar for a training."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from translations_assets.graph.step import Step
from translations_assets.records.cost import duration
from translations_assets.why.training_work import last_update

_BAR_WIDTH = 10
_NOT_SHOWN = {"kind", "epoch", "sentences", "learn_rate"}


@dataclass
class RunningStep:
    """A step that is running.

    since    when it was started
    numbers  the newest of its live numbers, by name
    first    when this display first heard of an update of its training, and which
    newest   when it last did, and of which
    """

    step: Step
    since: float
    numbers: dict[str, Any] = field(default_factory=dict)
    first: tuple[float, int] | None = None
    newest: tuple[float, int] | None = None

    def take(self, numbers: Mapping[str, Any]) -> None:
        """Take newer numbers."""
        self.numbers.update(numbers)
        if "update" in numbers and (self.newest is None or numbers["update"] > self.newest[1]):
            self.newest = time.monotonic(), numbers["update"]
            self.first = self.first or self.newest

    @property
    def elapsed(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.since

    @property
    def updates(self) -> int | None:
        """The most updates of a training; None when early stopping alone ends it."""
        return last_update(self.step) if "update" in self.numbers else None

    def seconds_left(self) -> float | None:
        """Estimate the seconds left of a training by its pace; None before two updates."""
        if not self.updates or not self.first or not self.newest or self.first == self.newest:
            return None
        (began, first), (heard, newest) = self.first, self.newest
        pace = (heard - began) / (newest - first)
        return max(0.0, pace * (self.updates - newest) - (time.monotonic() - heard))

    def shown(self) -> str:
        """The numbers in words: `300 of 600 updates, 1,250 words/s, cost 3.1, chrf 41.3`."""
        numbers = {name: value for name, value in self.numbers.items() if name not in _NOT_SHOWN}
        parts = []
        if (update := numbers.pop("update", None)) is not None:
            parts.append(f"{update:,}{f' of {self.updates:,}' if self.updates else ''} updates")
        if (speed := numbers.pop("words_per_second", None)) is not None:
            parts.append(f"{speed:,.0f} words/s")
        return ", ".join([*parts, *(f"{name} {_short(value)}" for name, value in numbers.items())])


def cut_line(text: str, style: str = "") -> Text:
    """A line that is cut off at the terminal's end."""
    return Text(text, style=style, no_wrap=True, overflow="ellipsis")


def rows_of(label: str, running: RunningStep) -> Iterator[RenderableType]:
    """The lines of a running step: time, numbers, and a bar where it is known when a training ends."""
    left = running.seconds_left()
    about = "" if left is None else f", about {duration(left)} left"
    yield cut_line(f"  {label}  {duration(running.elapsed)}{about}")
    if not (text := running.shown()):
        return
    if not running.updates:
        yield cut_line(f"    {text}")
        return
    row = Table.grid(padding=(0, 1))
    row.add_row("   ", ProgressBar(running.updates, running.numbers["update"], _BAR_WIDTH), cut_line(text))
    yield row


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
