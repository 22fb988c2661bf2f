"""All pairs as an HTML page that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from translations_assets.pairs.facts import Pair
from translations_assets.pairs.lines import LISTED, beside, cost_of
from translations_assets.report.templates import render
from translations_assets.results.scores import METRICS


def as_html(pairs: Sequence[Pair], currency: str) -> str:
    """The page; `currency` is that of the prices, "" without prices."""
    begun = [pair for pair in pairs if pair.state != "not begun"]
    used = {metric for pair in begun if pair.made for metric in pair.made.scores}
    return render(
        Path(__file__).with_name("page.html.j2"),
        begun=begun,
        others=[pair.partition for pair in pairs if pair.state == "not begun"],
        counts=Counter(pair.state for pair in begun),
        metrics={metric: METRICS[metric] for metric in LISTED if metric in used},
        currency=currency,
        beside=beside,
        cost_of=cost_of,
    )
