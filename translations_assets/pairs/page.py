"""All pairs as an HTML page that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from translations_assets.pairs.facts import Pair
from translations_assets.pairs.lines import LISTED, beside, cost_of
from translations_assets.report.page import FOLDER as REPORT
from translations_assets.report.page import environment
from translations_assets.results.scores import METRICS


def as_html(pairs: Sequence[Pair], currency: str) -> str:
    """The page; `currency` is that of the prices, "" without prices."""
    begun = [pair for pair in pairs if pair.state != "not begun"]
    used = {metric for pair in begun if pair.made for metric in pair.made.scores}
    return (
        environment(Path(__file__).parent)
        .get_template("page.html.j2")
        .render(
            begun=begun,
            others=[pair.partition for pair in pairs if pair.state == "not begun"],
            counts=Counter(pair.state for pair in begun),
            metrics={metric: METRICS[metric] for metric in LISTED if metric in used},
            currency=currency,
            beside=beside,
            cost_of=cost_of,
            style=Markup((REPORT / "page.css").read_text(encoding="utf-8")),
        )
    )
