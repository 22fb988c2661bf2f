"""The registry as a static site: a page that lists all models, and a page for each run."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from translations_assets.common.whole_file import write_whole
from translations_assets.registry.read import RunRow, ScoreRow, SpeedRow
from translations_assets.report.page import FOLDER as REPORT
from translations_assets.report.page import environment
from translations_assets.results.scores import METRICS

FOLDER = Path(__file__).parent
LISTED = ("chrf", "bleu", "comet")  # metrics in the list of all models


class Listed(NamedTuple):
    """A line of the list: a run, and the scores of its model on its first test set."""

    row: RunRow
    dataset: str
    scores: Mapping[str, ScoreRow]
    speed: SpeedRow | None


def write_site(folder: Path, rows: Sequence[RunRow], reported: Collection[str]) -> None:
    """Write `index.html` and `runs/<run>.html` into a folder; `reported` are the runs that have a report."""
    pages = environment(FOLDER)
    style = Markup((REPORT / "page.css").read_text(encoding="utf-8"))
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    listed = [_listed(row) for row in rows]
    pairs = sorted({"-".join(row.pair) for row in rows})
    shown = {metric: METRICS[metric] for metric in LISTED if any(metric in one.scores for one in listed)}
    index = pages.get_template("index.html.j2").render(
        listed=listed, pairs=pairs, metrics=shown, reported=reported, style=style
    )
    for row in rows:
        page = pages.get_template("run.html.j2").render(
            row=row, tests=list(_tests(row)), reported=row.run in reported, style=style
        )
        write_whole(folder / "runs" / f"{row.run}.html", page)
    write_whole(folder / "index.html", index)  # last: what it links to is there


def _listed(row: RunRow) -> Listed:
    own = [score for score in row.scores if score.model == row.model]
    scores = {score.metric: score for score in own if score.dataset == own[0].dataset}
    speed = next((speed for speed in row.speeds if speed.model == row.model), None)
    return Listed(row, own[0].dataset, scores, speed)


def _tests(row: RunRow) -> Iterator[tuple[str, list[str], dict[str, dict[str, ScoreRow]]]]:
    """Each test set, its metrics, and each model's scores on it, by metric."""
    for dataset in dict.fromkeys(score.dataset for score in row.scores):
        models: dict[str, dict[str, ScoreRow]] = {}
        for score in row.scores:
            if score.dataset == dataset:
                models.setdefault(score.model, {})[score.metric] = score
        metrics = [metric for metric in METRICS if any(metric in scores for scores in models.values())]
        yield dataset, metrics, models
