"""The curves of a training, of what Marian logged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from translations_assets.report.plots import Line

Point = Mapping[str, Any]
SCORES = {"chrf": "chrF", "bleu": "BLEU", "bleu-detok": "BLEU"}  # metrics of Marian between 0 and 100


def out_of_memory_at(metrics: Mapping[str, Any]) -> int | None:
    """The update from which a training went on with smaller micro-batches, None when it never had to."""
    found = metrics.get("derived", {}).get("out-of-memory-at")
    return None if found is None else int(found)


def charts(curve: Sequence[Point]) -> Iterator[tuple[str, str, list[Line]]]:
    """Title, name of the x axis and lines of each chart: scores, cross-entropy, speed."""
    valid = [point for point in curve if point["kind"] == "valid"]
    train = [point for point in curve if point["kind"] == "train"]
    scores = [_line(name, key, valid) for key, name in SCORES.items() if any(key in point for point in valid)]
    yield "scores on the dev set", "updates", scores
    costs = [_line("training", "cost", train), _line("dev set", "ce-mean-words", valid)]
    yield "cross-entropy a word", "updates", costs
    yield "words/s", "updates", [_line("words/s", "words_per_second", train)]


def _line(name: str, key: str, points: Sequence[Point]) -> Line:
    return Line(name, [(point["update"], point[key]) for point in points if key in point])
