"""Quality of a stage's models, as metadata: summary, curves, numbers under stable names, tables."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeAlias

import dagster as dg

from translations_assets.defs.tables import table
from translations_assets.records.scores import METRICS, scores_in, shown
from translations_assets.report.curves import charts, out_of_memory_at
from translations_assets.report.plots import as_image

Metadata: TypeAlias = "dict[str, dg.MetadataValue[Any]]"
Documents: TypeAlias = "Sequence[tuple[str, Mapping[str, Any]]]"  # step label, contents of its JSON file

MAX_VALIDATIONS = 20  # newest rows
MAX_SAMPLES = 3  # of each evaluation


def summary(trained: Documents, evaluated: Documents, in_short: str) -> Metadata:
    """Make the summary, as Markdown: scores, a line on what was made; and, apart, the curves.

    They stand apart because Dagster hides Markdown of more than 1,000 characters behind a click.
    """
    lines = [*_best(trained), *_scored(evaluated), in_short]
    curves = list(_drawn(trained))
    return {
        "summary": dg.MetadataValue.md("\n\n".join(lines)),
        **({"curves": dg.MetadataValue.md("\n\n".join(curves))} if curves else {}),
    }


def _best(trained: Documents) -> Iterator[str]:
    for label, metrics in trained:
        best = ", ".join(
            f"{METRICS.get(name, name)} **{found['score']:.4g}** at {found['update']:,}"
            for name, found in metrics["best"].items()
        )
        learned = _sparkline([point["chrf"] for point in metrics["curve"] if "chrf" in point])
        yield f"{label}: {best or 'no validation yet'}; {metrics['updates']:,} updates {learned}".rstrip()
        begun = out_of_memory_at(metrics)
        if begun is not None:
            yield f"{label}: a GPU's memory ran out; micro-batches are half as large from update {begun:,} on"


def _sparkline(values: Sequence[float]) -> str:
    """Scores between 0 and 100 as a line of blocks, at most 30 of them."""
    stride = -(-len(values) // 30) or 1
    return "".join("▁▂▃▄▅▆▇█"[min(7, int(value / 12.5))] for value in values[::stride])


def _scored(evaluated: Documents) -> Iterator[str]:
    for label, metrics in evaluated:
        found = scores_in(metrics)
        scores = ", ".join(f"{METRICS[name]} **{shown(score)}**" for name, score in found.items())
        yield f"{label}: {scores}"


def _drawn(trained: Documents) -> Iterator[str]:
    """The curves of each training, as pictures inside the text."""
    for label, metrics in trained:
        for title, x_name, lines in charts(metrics["curve"]):
            if image := as_image(f"{label}: {title}", x_name, lines):
                encoded = base64.b64encode(image.encode()).decode()
                yield f"![{title}](data:image/svg+xml;base64,{encoded})"


def evaluation_numbers(evaluated: Documents) -> Metadata:
    """Scores, and what was timed: of the stage's first test set, the mean of its models."""
    first = next((metrics["dataset"] for _, metrics in evaluated), "")
    found: dict[str, list[float]] = {}
    for _, metrics in evaluated:
        if metrics["dataset"] == first:
            scores = {name: score["score"] for name, score in scores_in(metrics).items()}
            for name, value in {**scores, **metrics.get("speed", {})}.items():
                found.setdefault(name, []).append(float(value))
    return {name: dg.MetadataValue.float(fmean(values)) for name, values in found.items()}


def training_numbers(trained: Documents) -> Metadata:
    """The best scores on the dev set and the updates, the mean of the stage's trainings."""
    found: dict[str, list[float]] = {}
    for _, metrics in trained:
        for name, best in metrics["best"].items():
            found.setdefault(name, []).append(float(best["score"]))
        found.setdefault("updates", []).append(float(metrics["updates"]))
    return {name: dg.MetadataValue.float(fmean(values)) for name, values in found.items()}


def evaluation_tables(evaluated: Documents) -> Metadata:
    """Every score with its interval, the signatures of the metrics, and a few translations."""
    scores = [
        {"step": label, **{METRICS[name]: shown(score) for name, score in scores_in(metrics).items()}}
        for label, metrics in evaluated
    ]
    signatures = {
        METRICS[name]: score["signature"]
        for _, metrics in evaluated
        for name, score in scores_in(metrics).items()
    }
    samples = [
        {"step": label, **sample}
        for label, metrics in evaluated
        for sample in metrics.get("samples", ())[:MAX_SAMPLES]
    ]
    signed = [{"metric": name, "signature": signature} for name, signature in signatures.items()]
    tables = {"scores": scores, "signatures": signed, "translations": samples}
    return {name: table(rows) for name, rows in tables.items() if rows}


def training_tables(trained: Documents) -> Metadata:
    """The newest validations; the curves have all of them."""
    rows = [
        {"step": label, **{name: value for name, value in point.items() if name != "kind"}}
        for label, metrics in trained
        for point in [point for point in metrics["curve"] if point["kind"] == "valid"][-MAX_VALIDATIONS:]
    ]
    return {"validations": table(rows)} if rows else {}
