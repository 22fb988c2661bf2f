"""Line charts as SVG inside HTML; colours are the page's, so that they follow its light or dark mode."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

WIDTH, HEIGHT = 460, 240
LEFT, RIGHT, TOP, BOTTOM = 48, 12, 26, 34  # margins, for the axes' numbers
TICKS = 5  # at most, on an axis
MOST_POINTS = 300  # of a line
COLOURS = (
    *(("#3d7bd9", "blue"), ("#d9702a", "orange"), ("#2f9e63", "green"), ("#9b59b6", "violet")),
    *(("#cf4a41", "red"), ("#1d919b", "teal"), ("#9a7d0a", "ochre"), ("#77828f", "grey")),
)
STYLE = (
    "text { font: 11px sans-serif; fill: #77828f } .grid { stroke: #77828f; stroke-opacity: .3 } "
    ".line { fill: none; stroke-width: 2 }"
)


class Line(NamedTuple):
    """A line of a chart: its name, and its points by ascending x."""

    name: str
    points: Sequence[tuple[float, float]]


def line_chart(title: str, x_name: str, lines: Sequence[Line]) -> Markup:
    """A chart of lines for a page, which gives the colours; nothing when no line has a point.

    Numbers that are not finite are left out. The first eight lines have colours of their own.
    """
    drawn = _drawn(lines)
    if not drawn:
        return Markup("")
    return Markup("<figure><figcaption>{}</figcaption>{}{}</figure>").format(
        title, _svg(title, x_name, drawn), _legend(drawn)
    )


def as_image(title: str, x_name: str, lines: Sequence[Line]) -> Markup:
    """The same as an image that stands alone, with colours that can be read on light and on dark ground."""
    drawn = _drawn(lines)
    if not drawn:
        return Markup("")
    names = ", ".join(f"{line.name} {COLOURS[number % 8][1]}" for number, line in enumerate(drawn))
    shown = f"{title} ({names})" if len(drawn) > 1 else title
    heading = Markup('<text x="{}" y="{}">{}</text>').format(LEFT, TOP - 12, shown)
    colours = "".join(f".c{number} {{ stroke: {colour} }}" for number, (colour, _) in enumerate(COLOURS))
    return _svg(title, x_name, drawn, style=STYLE + colours, heading=heading)


def _drawn(lines: Sequence[Line]) -> list[Line]:
    found = [Line(name, _finite(points)) for name, points in lines]
    return [line for line in found if line.points]


def _svg(
    title: str, x_name: str, lines: Sequence[Line], style: str = "", heading: Markup | None = None
) -> Markup:
    xs = _ticks([x for line in lines for x, _ in line.points])
    ys = _ticks([y for line in lines for _, y in line.points])
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        'aria-label="{title}">{style}{parts}</svg>'
    ).format(
        title=title,
        width=WIDTH,
        height=HEIGHT,
        style=Markup("<style>{}</style>").format(style) if style else "",
        parts=Markup("").join([*_axes(x_name, xs, ys), *_curves(lines, xs, ys), heading or ""]),
    )


def _finite(points: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """Those points that can be drawn, at even distances if there are many; the last one always."""
    good = [point for point in points if all(map(math.isfinite, point))]
    stride = -(-len(good) // MOST_POINTS) or 1
    return [point for number, point in enumerate(good, 1 - len(good)) if number % stride == 0]


def _ticks(values: Sequence[float]) -> Sequence[float]:
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


def _axes(x_name: str, xs: Sequence[float], ys: Sequence[float]) -> Iterator[Markup]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for y in ys:
        height = _place_y(y, ys)
        yield Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(
            LEFT, right, height, height
        )
        yield Markup('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(
            LEFT - 6, height + 4, f"{y:,.6g}"
        )
    for x in xs:
        anchor = "end" if x == xs[-1] else "middle"  # the last one stays inside
        yield Markup('<text x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(
            _place_x(x, xs), bottom + 15, anchor, f"{x:,.6g}"
        )
    yield Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
        (LEFT + right) / 2, HEIGHT - 4, x_name
    )


def _curves(lines: Sequence[Line], xs: Sequence[float], ys: Sequence[float]) -> Iterator[Markup]:
    for number, line in enumerate(lines):
        places = " ".join(f"{_place_x(x, xs):.1f},{_place_y(y, ys):.1f}" for x, y in line.points)
        yield Markup('<polyline class="line c{}" points="{}"/>').format(number % 8, places)
        if len(line.points) == 1:
            x, y = places.split(",")
            yield Markup('<circle class="dot c{}" cx="{}" cy="{}" r="3"/>').format(number % 8, x, y)


def _legend(lines: Sequence[Line]) -> Markup:
    if len(lines) < 2:
        return Markup("")
    entries = (
        Markup('<span><i class="c{}"></i>{}</span>').format(number % 8, escape(line.name))
        for number, line in enumerate(lines)
    )
    return Markup('<div class="legend">{}</div>').format(Markup("").join(entries))
