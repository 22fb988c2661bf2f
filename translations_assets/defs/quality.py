"""Quality of a stage's models, as metadata: summary, curves, numbers under stable names, tables."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

from translations_assets.report.curves import charts
from translations_assets.report.plots import as_image
from translations_assets.results.scores import METRICS, Scores
from translations_assets.results.training import Training

Rows: TypeAlias = "list[dict[str, Any]]"  # of a table
Trained: TypeAlias = "Sequence[tuple[str, Training]]"  # step label, its training
Evaluated: TypeAlias = "Sequence[tuple[str, Scores]]"  # step label, its scores

MAX_VALIDATIONS = 20  # newest rows
MAX_SAMPLES = 3  # of each evaluation


def summary(trained: Trained, evaluated: Evaluated, in_short: str) -> dict[str, list[str]]:
    """Make the summary, as Markdown: scores, a line on what was made; and, apart, the curves.

    They stand apart because Dagster hides Markdown of more than 1,000 characters behind a click.
    """
    lines = [*_best(trained), *_scored(evaluated), in_short]
    return {"summary": _paragraphs(lines), "curves": _paragraphs([*_drawn(trained)])}


def _paragraphs(texts: Sequence[str]) -> list[str]:
    return ["\n\n".join(texts)] if texts else []


def _best(trained: Trained) -> Iterator[str]:
    for label, training in trained:
        best = ", ".join(
            f"{METRICS.get(name, name)} **{found.score:.4g}** at {found.update:,}"
            for name, found in training.best.items()
        )
        learned = _sparkline([point.numbers["chrf"] for point in training.curve if "chrf" in point.numbers])
        yield f"{label}: {best or 'no validation yet'}; {training.updates:,} updates {learned}".rstrip()
        begun = training.out_of_memory_at
        if begun is not None:
            yield f"{label}: a GPU's memory ran out; micro-batches are half as large from update {begun:,} on"


def _sparkline(values: Sequence[float]) -> str:
    """Scores between 0 and 100 as a line of blocks, at most 30 of them."""
    stride = -(-len(values) // 30) or 1
    return "".join("▁▂▃▄▅▆▇█"[min(7, int(value / 12.5))] for value in values[::stride])


def _scored(evaluated: Evaluated) -> Iterator[str]:
    for label, scores in evaluated:
        told = ", ".join(f"{METRICS[name]} **{score}**" for name, score in scores.by_metric.items())
        yield f"{label}: {told}"


def _drawn(trained: Trained) -> Iterator[str]:
    """The curves of each training, as pictures inside the text."""
    for label, training in trained:
        for title, x_name, lines in charts(training.curve):
            if image := as_image(f"{label}: {title}", x_name, lines):
                encoded = base64.b64encode(image.encode()).decode()
                yield f"![{title}](data:image/svg+xml;base64,{encoded})"


def evaluation_numbers(evaluated: Evaluated) -> dict[str, float]:
    """Scores, and what was timed: of the stage's first test set, the mean of its models."""
    first = next((scores.dataset for _, scores in evaluated), "")
    return _means(scores.numbers for _, scores in evaluated if scores.dataset == first)


def training_numbers(trained: Trained) -> dict[str, float]:
    """The best scores on the dev set and the updates, the mean of the stage's trainings."""
    return _means(
        {**{name: best.score for name, best in training.best.items()}, "updates": training.updates}
        for _, training in trained
    )


def _means(measured: Iterable[Mapping[str, float]]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for numbers in measured:
        for name, value in numbers.items():
            found.setdefault(name, []).append(value)
    return {name: fmean(values) for name, values in found.items()}


def evaluation_tables(evaluated: Evaluated) -> dict[str, Rows]:
    """Every score with its interval, the signatures of the metrics, and a few translations."""
    signatures = {
        METRICS[name]: score.signature for _, scores in evaluated for name, score in scores.by_metric.items()
    }
    return {
        "scores": [
            {"step": label, **{METRICS[name]: str(score) for name, score in scores.by_metric.items()}}
            for label, scores in evaluated
        ],
        "signatures": [{"metric": name, "signature": signature} for name, signature in signatures.items()],
        "translations": [
            {"step": label, **sample.to_dict()}
            for label, scores in evaluated
            for sample in scores.samples[:MAX_SAMPLES]
        ],
    }


def validations(trained: Trained) -> Rows:
    """The newest validations; the curves have all of them."""
    return [
        {"step": label, "update": point.update, **point.numbers}
        for label, training in trained
        for point in [point for point in training.curve if point.kind == "valid"][-MAX_VALIDATIONS:]
    ]
