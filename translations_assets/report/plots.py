"""Line charts as SVG inside HTML; colours are the page's, so that they follow its light or dark mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from translations_assets.report.templates import render

WIDTH, HEIGHT = 460, 240
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 26, 34  # margins, for the axes' numbers
TICKS = 5  # at most, on an axis
MOST_POINTS = 300  # of a line
COLOURS = (
    *(("#3d7bd9", "blue"), ("#d9702a", "orange"), ("#2f9e63", "green"), ("#9b59b6", "violet")),
    *(("#cf4a41", "red"), ("#1d919b", "teal"), ("#9a7d0a", "ochre"), ("#77828f", "grey")),
)


class Line(NamedTuple):
    """A line of a chart: its name, and its points by ascending x."""

    name: str
    points: Sequence[tuple[float, float]]


def line_chart(title: str, x_name: str, lines: Sequence[Line]) -> Markup:
    """A chart of lines for a page, which gives the colours; nothing when no line has a point.

    Numbers that are not finite are left out. The first eight lines have colours of their own.
    """
    return _chart(title, x_name, lines, is_image=False)


def as_image(title: str, x_name: str, lines: Sequence[Line]) -> Markup:
    """The same as an image that stands alone, with colours that can be read on light and on dark ground."""
    return _chart(title, x_name, lines, is_image=True)


def _chart(title: str, x_name: str, lines: Sequence[Line], *, is_image: bool) -> Markup:
    finite = [(line.name, _finite(line.points)) for line in lines]
    drawn = [(name, points) for name, points in finite if points]
    if not drawn:
        return Markup("")
    xs = ticks([x for _, points in drawn for x, _ in points])
    ys = ticks([y for _, points in drawn for _, y in points])
    text = render(
        Path(__file__).with_name("chart.html.j2"),
        title=title,
        x_name=x_name,
        is_image=is_image,
        colours=COLOURS,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        top=TOP,
        right=WIDTH - RIGHT,
        bottom=HEIGHT - BOTTOM,
        xs=[(f"{x:,.6g}", _place_x(x, xs)) for x in xs],
        ys=[(f"{y:,.6g}", _place_y(y, ys)) for y in ys],
        lines=[(name, [(_place_x(x, xs), _place_y(y, ys)) for x, y in points]) for name, points in drawn],
    )
    return Markup(text)


def _finite(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """Those points that can be drawn, at even distances if there are many; the last one always."""
    good = [point for point in points if all(map(math.isfinite, point))]
    stride = -(-len(good) // MOST_POINTS) or 1
    return [point for number, point in enumerate(good, 1 - len(good)) if number % stride == 0]


def ticks(values: Sequence[float]) -> Sequence[float]:
    """Round numbers at even distances, the first below all values and the last above all."""
    low, high = min(values), max(values)
    if low == high:
        low, high = low - 1, high + 1
    raw = (high - low) / (TICKS - 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    first = math.floor(low / step)
    return [number * step for number in range(first, math.ceil(high / step - 1e-9) + 1)]


def _place_x(x: float, ticks: Sequence[float]) -> float:
    return LEFT + (x - ticks[0]) / (ticks[-1] - ticks[0]) * (WIDTH - LEFT - RIGHT)


def _place_y(y: float, ticks: Sequence[float]) -> float:
    return HEIGHT - BOTTOM - (y - ticks[0]) / (ticks[-1] - ticks[0]) * (HEIGHT - TOP - BOTTOM)
