"""Pairs whose sides have lengths far from what is usual in their corpus."""

import heapq
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

SMOOTHING = 10  # characters added to each side: of short lines the ratio means little
FACTOR = 3.0  # a pair is an outlier when its ratio is so many times the median, or a part of it
BINS = 400
LIMIT = 10.0  # of the histogram, in powers of two
SAMPLES = 3  # of each end
SAMPLE_CHARACTERS = 300


class LengthRatios:
    """A histogram of the ratios of target length to source length, and the most extreme pairs."""

    def __init__(self) -> None:
        self._histogram = np.zeros(BINS, dtype=np.int64)
        self._ends: list[list[tuple[float, int, str, str]]] = [[], []]
        self._pairs = 0
        self._characters = np.zeros(2)

    def add(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Add a block of pairs."""
        lengths = _lengths(sources), _lengths(targets)
        self._characters += [side.sum() - SMOOTHING * len(side) for side in lengths]
        logs = np.log2(lengths[1] / lengths[0])
        self._histogram += np.bincount(_bins(logs), minlength=BINS)
        for end, signed in zip(self._ends, (-logs, logs), strict=True):
            for place in np.argsort(-signed, kind="stable")[:SAMPLES].tolist():
                pair = (sources[place][:SAMPLE_CHARACTERS], targets[place][:SAMPLE_CHARACTERS])
                end.append((float(signed[place]), -(self._pairs + place), *pair))
            end[:] = heapq.nlargest(SAMPLES, end)
        self._pairs += len(sources)

    def to_json(self) -> dict[str, Any]:
        """The ratio of all characters, the median, and number and share of outliers with the farthest."""
        if not self._pairs:
            return {"overall": 1.0, "median": 1.0, "outliers": 0, "share": 0.0, "samples": []}
        centres = (np.arange(BINS) + 0.5) * (2 * LIMIT / BINS) - LIMIT
        median = float(centres[np.searchsorted(np.cumsum(self._histogram), (self._pairs + 1) // 2)])
        outliers = int(self._histogram[np.abs(centres - median) > np.log2(FACTOR)].sum())
        return {
            "overall": round(float(self._characters[1] / max(1, self._characters[0])), 4),
            "median": round(2.0**median, 2),
            "outliers": outliers,
            "share": round(outliers / self._pairs, 6),
            "samples": [
                [source, target]
                for end, sign in zip(self._ends, (-1, 1), strict=True)
                for signed, _, source, target in end
                if abs(sign * signed - median) > np.log2(FACTOR)
            ],
        }


def _lengths(lines: Sequence[str]) -> npt.NDArray[np.float64]:
    return np.fromiter(map(len, lines), dtype=np.float64, count=len(lines)) + SMOOTHING


def _bins(logs: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    places = np.floor((logs + LIMIT) * (BINS / (2 * LIMIT)))
    return np.clip(places, 0, BINS - 1).astype(np.int64)
