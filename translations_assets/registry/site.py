"""The registry as a static site: a page that lists all models, and a page for each run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from translations_assets.common.whole_file import write_whole
from translations_assets.registry.read import RunRow
from translations_assets.report.templates import render
from translations_assets.results.scores import METRICS, MetricScore, Speed, score_tables

FOLDER = Path(__file__).parent
LISTED = ("chrf", "bleu", "comet")  # metrics in the list of all models


class Listed(NamedTuple):
    """A line of the list: a run, and the scores of its model on its first test set."""

    row: RunRow
    dataset: str
    scores: Mapping[str, MetricScore]
    speed: Speed | None


def write_site(folder: Path, rows: Sequence[RunRow], reported: Collection[str]) -> None:
    """Write `index.html` and `runs/<run>.html` into a folder; `reported` are the runs that have a report."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    listed = [_listed(row) for row in rows]
    pairs = sorted({"-".join(row.pair) for row in rows})
    shown = {metric: METRICS[metric] for metric in LISTED if any(metric in one.scores for one in listed)}
    values = {"listed": listed, "pairs": pairs, "metrics": shown, "reported": reported}
    index = render(FOLDER / "index.html.j2", **values)
    for row in rows:
        is_reported = row.run in reported
        page = render(
            FOLDER / "run.html.j2", row=row, tables=score_tables(row.evaluations), reported=is_reported
        )
        write_whole(folder / "runs" / f"{row.run}.html", page)
    write_whole(folder / "index.html", index)  # last: what it links to is there


def _listed(row: RunRow) -> Listed:
    dataset, scores = next(iter(row.evaluations[row.model].items()))
    return Listed(row, dataset, scores.by_metric, row.speeds.get(row.model))
