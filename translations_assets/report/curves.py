"""The curves of a training, of what Marian logged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from translations_assets.report.plots import Line
from translations_assets.results.training import CurvePoint

SCORES = {"chrf": "chrF", "bleu": "BLEU", "bleu-detok": "BLEU"}  # metrics of Marian between 0 and 100


def charts(curve: Sequence[CurvePoint]) -> Iterator[tuple[str, str, list[Line]]]:
    """Title, name of the x axis and lines of each chart: scores, cross-entropy, speed."""
    valid = [point for point in curve if point.kind == "valid"]
    train = [point for point in curve if point.kind == "train"]
    scores = [_line(name, key, valid) for key, name in SCORES.items()]
    yield "scores on the dev set", "updates", [line for line in scores if line.points]
    costs = [_line("training", "cost", train), _line("dev set", "ce-mean-words", valid)]
    yield "cross-entropy a word", "updates", costs
    yield "words/s", "updates", [_line("words/s", "words_per_second", train)]


def _line(name: str, key: str, points: Sequence[CurvePoint]) -> Line:
    return Line(name, [(point.update, point.numbers[key]) for point in points if key in point.numbers])
