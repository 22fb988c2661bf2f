"""Charts: what is drawn, and what is left out."""

import math
import re
from xml.etree import ElementTree

from translations_assets.report.plots import HEIGHT, MOST_POINTS, WIDTH, Line, line_chart


def places(chart: str) -> list[tuple[float, float]]:
    """The places of all points of all lines."""
    found = re.findall(r'points="([^"]*)"', chart)
    return [(float(x), float(y)) for points in found for x, y in (p.split(",") for p in points.split())]


def test_lines_stay_inside_the_chart_and_keep_their_order() -> None:
    chart = line_chart("chrF", "updates", [Line("dev", [(100, -3.2), (200, 41.0), (5_000, 99.9)])])
    (x1, y1), (x2, y2), (x3, y3) = places(chart)
    assert 0 < x1 < x2 < x3 <= WIDTH
    assert HEIGHT > y1 > y2 > y3 >= 0
    ElementTree.fromstring(chart)


def test_what_is_no_number_is_left_out() -> None:
    points = [(1, 5.0), (2, math.nan), (3, math.inf), (4, 6.0)]
    assert len(places(line_chart("cost", "updates", [Line("training", points)]))) == 2
    assert line_chart("cost", "updates", [Line("training", [(1, math.nan)]), Line("dev", [])]) == ""


def test_a_single_point_and_a_constant_are_drawn() -> None:
    assert "<circle" in line_chart("cost", "updates", [Line("training", [(7, 7.0)])])
    ElementTree.fromstring(line_chart("cost", "updates", [Line("training", [(1, 0.0), (2, 0.0)])]))


def test_a_long_line_is_thinned_and_ends_where_it_ended() -> None:
    long = [(update, float(update)) for update in range(100_001)]
    thinned = places(line_chart("cost", "updates", [Line("training", long)]))
    assert len(thinned) <= MOST_POINTS + 1
    assert thinned[-1] == places(line_chart("cost", "updates", [Line("training", [long[0], long[-1]])]))[-1]


def test_names_are_text() -> None:
    chart = line_chart("<b>", "<i>", [Line("<script>", [(1, 1.0)]), Line("&", [(1, 2.0)])])
    assert not re.search("<script|<b>|<i>", chart)
    ElementTree.fromstring(chart)
