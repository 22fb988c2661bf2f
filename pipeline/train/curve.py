"""The training curve: what Marian's log says about cost, speed and validation, as numbers.

Every point goes to a file of its own in the work folder (part of each checkpoint) and, live, to the file
that the worker asks for.
"""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pipeline.common.errors import InputError

Point: TypeAlias = dict[str, Any]

_NUMBER = r"(-?(?:[\d.,]+(?:e[+-]?\d+)?|nan|inf))"
_TRAINING = re.compile(
    rf"Ep\. (\d+) : Up\. ([\d,]+) : Sen\. ([\d,]+) : Cost {_NUMBER}.*? : {_NUMBER} words/s"
    rf"(?:.*? : L\.r\. {_NUMBER})?"
)
_VALIDATION = re.compile(rf"\[valid\] Ep\. \d+ : Up\. ([\d,]+) : ([\w-]+) : {_NUMBER} : (?:new best|stalled)")
_DIVERGED = "The cost is not a number at update {}: training diverged. Lower learn-rate, or warm up longer"

SHORT_NAMES = {"bleu-detok": "bleu"}


def parse_training(line: str) -> Point | None:
    """The numbers of a line of Marian's log about training, None for any other line."""
    found = _TRAINING.search(line)
    if not found:
        return None
    epoch, update, sentences, cost, speed, rate = found.groups()
    return {
        "kind": "train",
        "update": int(_number(update)),
        "epoch": int(epoch),
        "sentences": int(_number(sentences)),
        "cost": _number(cost),
        "words_per_second": _number(speed),
        "learn_rate": _number(rate) if rate else None,
    }


def parse_validation(line: str) -> tuple[int, str, float] | None:
    """Update, metric and score of a line of Marian's log about validation, None for any other line."""
    found = _VALIDATION.search(line)
    if not found:
        return None
    update, metric, score = found.groups()
    return int(_number(update)), metric, _number(score)


class Curve:
    """The points of a training, kept in a file and reported live."""

    def __init__(self, file: Path, metrics: Sequence[str], live: Path | None) -> None:
        """`metrics` are Marian's names of the scores that each validation computes, `live` may be None."""
        self._file, self._metrics, self._live = file, metrics, live
        self._validation: Point = {}
        self.points: list[Point] = []

    def restore(self, update: int) -> None:
        """Take the points of an earlier attempt from the file, up to an update."""
        text = self._file.read_text() if self._file.exists() else ""  # a save may come before the first point
        points = [json.loads(line) for line in text.splitlines()]
        self.points = [point for point in points if point["update"] <= update]
        self._file.write_text("".join(_line(point) for point in self.points))

    def read(self, line: str) -> None:
        """Take what a line of Marian's log says. Raises InputError when the cost is not a number."""
        point = parse_training(line)
        if point:
            if not math.isfinite(point["cost"]):
                raise InputError(_DIVERGED.format(point["update"]))
            self._add(point)
        validation = parse_validation(line)
        if validation:
            self._read_validation(*validation)

    def best(self) -> dict[str, Point]:
        """For each metric the best score so far and its update; cost metrics are better when lower."""
        best: dict[str, Point] = {}
        for metric in (SHORT_NAMES.get(name, name) for name in self._metrics):
            scored = [point for point in self.points if metric in point]
            sign = -1 if metric.startswith("ce-") else 1
            if scored:
                point = max(scored, key=lambda point: sign * point[metric])
                best[metric] = {"score": point[metric], "update": point["update"]}
        return best

    def _read_validation(self, update: int, metric: str, score: float) -> None:
        if not math.isfinite(score):
            raise InputError(_DIVERGED.format(update))
        if self._validation.get("update") != update:
            self._validation = {"kind": "valid", "update": update}
        self._validation[SHORT_NAMES.get(metric, metric)] = score
        if metric == self._metrics[-1]:  # Marian reports them in their order
            self._add(self._validation)
            self._validation = {}

    def _add(self, point: Point) -> None:
        self.points.append(point)
        for file in (self._file, self._live):
            if file:
                with file.open("a", encoding="utf-8") as stream:
                    stream.write(_line(point))


def _line(point: Point) -> str:
    return json.dumps(point) + "\n"


def _number(text: str) -> float:
    return float(text.replace(",", ""))
