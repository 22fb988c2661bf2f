"""A sweep's results as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from translations_assets.records.cost import amount, duration
from translations_assets.report.intervals import Interval, interval_chart
from translations_assets.report.templates import render
from translations_assets.results.scores import METRICS
from translations_assets.sweeps.compared import Compared
from translations_assets.sweeps.facts import SweepResults
from translations_assets.sweeps.words import cell, datasets_of, findings, needs, scores_of

TEMPLATE = Path(__file__).with_name("page.html.j2")


class _Test(NamedTuple):
    """A test set: the names of its metrics, a row for each setting, a chart for each metric."""

    dataset: str
    metrics: list[str]
    rows: list[tuple[str, list[str]]]
    charts: list[Markup]


def as_html(found: SweepResults) -> str:
    """The comparison of a sweep's settings as a page."""
    money = f", {amount(found.cost.money)} {found.currency}" if found.cost.money else ""
    return render(
        TEMPLATE,
        found=found,
        tests=list(_tests(found)),
        findings=list(findings(found)),
        variants=sum(len(setting.partitions) for setting in found.settings),
        lacking=[one for setting in found.settings for one in setting.lacking],
        cost=f"{duration(found.cost.seconds)}{money}",
    )


def _tests(found: SweepResults) -> Iterator[_Test]:
    for dataset in datasets_of(found):
        scores = {setting.name: scores_of(setting, dataset) for setting in found.settings}
        metrics = [metric for metric in METRICS if any(metric in one for one in scores.values())]
        rows = []
        for setting in found.settings:
            of_each = scores[setting.name]
            cells = [cell(of_each[metric]) if metric in of_each else "" for metric in metrics]
            rows.append((setting.name, [*cells, *needs(setting, found.currency)]))
        charts = [
            interval_chart(
                f"{METRICS[metric]} on {dataset}",
                [_interval(name, one[metric]) for name, one in scores.items() if metric in one],
            )
            for metric in metrics
        ]
        yield _Test(dataset, [METRICS[metric] for metric in metrics], rows, charts)


def _interval(name: str, found: Compared) -> Interval:
    """A setting's mean, its interval over seeds or else over lines, and the score of each seed."""
    half = found.spread if found.spread is not None else found.ci[0] if found.ci else 0.0
    return Interval(name, float(found.mean), float(half), tuple(map(float, found.scores)))
