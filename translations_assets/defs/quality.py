"""Quality of a stage's models, as metadata: summary, curves, numbers under stable names, tables."""

import base64
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, TypeAlias

import dagster as dg

from translations_assets.defs.tables import table
from translations_assets.report.curves import charts
from translations_assets.report.plots import as_image
from translations_assets.results.scores import METRICS, Scores
from translations_assets.results.training import Training

Metadata: TypeAlias = "dict[str, dg.MetadataValue[Any]]"
Trained: TypeAlias = "Sequence[tuple[str, Training]]"  # step label, its training
Evaluated: TypeAlias = "Sequence[tuple[str, Scores]]"  # step label, its scores

MAX_VALIDATIONS = 20  # newest rows
MAX_SAMPLES = 3  # of each evaluation


def summary(trained: Trained, evaluated: Evaluated, in_short: str) -> Metadata:
    """Make the summary, as Markdown: scores, a line on what was made; and, apart, the curves.

    They stand apart because Dagster hides Markdown of more than 1,000 characters behind a click.
    """
    lines = [*_best(trained), *_scored(evaluated), in_short]
    curves = list(_drawn(trained))
    return {
        "summary": dg.MetadataValue.md("\n\n".join(lines)),
        **({"curves": dg.MetadataValue.md("\n\n".join(curves))} if curves else {}),
    }


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


def evaluation_numbers(evaluated: Evaluated) -> Metadata:
    """Scores, and what was timed: of the stage's first test set, the mean of its models."""
    first = next((scores.dataset for _, scores in evaluated), "")
    found: dict[str, list[float]] = {}
    for _, scores in evaluated:
        if scores.dataset == first:
            numbers = {name: score.score for name, score in scores.by_metric.items()}
            speed = scores.speed.to_dict() if scores.speed else {}
            for name, value in {**numbers, **speed}.items():
                found.setdefault(name, []).append(float(value))
    return {name: dg.MetadataValue.float(fmean(values)) for name, values in found.items()}


def training_numbers(trained: Trained) -> Metadata:
    """The best scores on the dev set and the updates, the mean of the stage's trainings."""
    found: dict[str, list[float]] = {}
    for _, training in trained:
        for name, best in training.best.items():
            found.setdefault(name, []).append(float(best.score))
        found.setdefault("updates", []).append(float(training.updates))
    return {name: dg.MetadataValue.float(fmean(values)) for name, values in found.items()}


def evaluation_tables(evaluated: Evaluated) -> Metadata:
    """Every score with its interval, the signatures of the metrics, and a few translations."""
    rows = [
        {"step": label, **{METRICS[name]: str(score) for name, score in scores.by_metric.items()}}
        for label, scores in evaluated
    ]
    signatures = {
        METRICS[name]: score.signature for _, scores in evaluated for name, score in scores.by_metric.items()
    }
    samples = [
        {"step": label, **sample.to_dict()}
        for label, scores in evaluated
        for sample in scores.samples[:MAX_SAMPLES]
    ]
    signed = [{"metric": name, "signature": signature} for name, signature in signatures.items()]
    tables: dict[str, list[dict[str, Any]]] = {"scores": rows, "signatures": signed, "translations": samples}
    return {name: table(rows) for name, rows in tables.items() if rows}


def training_tables(trained: Trained) -> Metadata:
    """The newest validations; the curves have all of them."""
    rows = [
        {"step": label, "update": point.update, **point.numbers}
        for label, training in trained
        for point in [point for point in training.curve if point.kind == "valid"][-MAX_VALIDATIONS:]
    ]
    return {"validations": table(rows)} if rows else {}
