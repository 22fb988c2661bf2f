"""Charts of means with their intervals, a line for each, as SVG inside HTML; colours are the page's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from translations_assets.report.plots import ticks
from translations_assets.report.templates import render

WIDTH, ROW = 460, 34  # of a chart; of a line of it, whose name stands above
LEFT, RIGHT, TOP, BOTTOM = 12, 12, 4, 24  # margins


class Interval(NamedTuple):
    """A name, a mean, half of its interval, and the values that it is the mean of."""

    name: str
    mean: float
    half: float
    values: Sequence[float]


def interval_chart(title: str, intervals: Sequence[Interval]) -> Markup:
    """A chart of intervals, one below the other on one scale; nothing without any."""
    if not intervals:
        return Markup("")
    ends = [end for one in intervals for end in (one.mean - one.half, one.mean + one.half, *one.values)]
    xs = ticks(ends)

    def place(value: float) -> float:
        return LEFT + (value - xs[0]) / (xs[-1] - xs[0]) * (WIDTH - LEFT - RIGHT)

    text = render(
        Path(__file__).with_name("intervals.html.j2"),
        title=title,
        width=WIDTH,
        height=TOP + ROW * len(intervals) + BOTTOM,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=TOP + ROW * len(intervals),
        xs=[(f"{x:,.6g}", place(x)) for x in xs],
        rows=[
            {
                "name": one.name,
                "said": f"{one.mean:.1f} ± {one.half:.1f}",
                "y": TOP + ROW * number + 0.7 * ROW,
                "mean": place(one.mean),
                "low": place(one.mean - one.half),
                "high": place(one.mean + one.half),
                "values": [place(value) for value in one.values],
            }
            for number, one in enumerate(intervals)
        ],
    )
    return Markup(text)
