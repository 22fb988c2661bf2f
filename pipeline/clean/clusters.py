"""Cheap clusters of lines: k-means over hashed runs of bytes, learned from a sample.

A line is the vector of how many of its runs of six bytes fall into each of 1,024 boxes: six letters of
English, three of Russian, two characters of Chinese. Boxes that most lines fill count little. A line's
cluster is the one whose centre has the smallest angle with it.

All numbers are integers that 32 bits of floating point hold exactly, sums of products included. So a line's
cluster is the same on every processor, and BLAS may sum in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.common.line_blocks import line_ends
from pipeline.common.selection import places

Vectors: TypeAlias = npt.NDArray[np.float32]  # of shape (lines, BOXES); whole numbers
Numbers: TypeAlias = npt.NDArray[np.uint8]

RUN = 6  # bytes
BITS = 10
BOXES = 1 << BITS
FACTOR = np.uint64(0x9E3779B97F4A7C15)  # spreads runs over boxes
MOST = 7  # of a line's runs count in a box
HEAVIEST = 32  # weight of a box that few lines fill; 4 is that of one which all fill
LENGTH = 2048  # of a centre; times the longest vector of a line, 7 * 32 * 32, it is below 2 ** 24
CLUSTERS = 200
LEAST = 20  # lines of the sample, for each cluster
ROUNDS = 8
PIECE = 512  # lines that are counted and scaled together


@dataclass(frozen=True)
class Clusters:
    """Clusters of lines.

    weights   of a run in each box
    centres   one for each cluster
    richness  of each cluster the number of different runs in its lines of the sample, 1 at least
    """

    weights: npt.NDArray[np.float32]
    centres: Vectors
    richness: Sequence[int]

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self.centres)

    def of(self, text: bytes) -> Numbers:
        """The cluster of each line of a text, which ends with a line feed; of equally near ones the first."""
        return _nearest(count_runs(text) * self.weights, self.centres)


def find_clusters(sample: Sequence[bytes], seed: str) -> Clusters:
    """Find up to 200 clusters of lines, by k-means from seeded first centres (k-means++)."""
    vectors = np.empty((len(sample), BOXES), dtype=np.float32)
    pieces = [slice(first, first + PIECE) for first in range(0, len(sample), PIECE)]
    for piece in pieces:
        vectors[piece] = count_runs(b"".join(line + b"\n" for line in sample[piece]))
    filled = np.maximum(np.count_nonzero(vectors, axis=0), 1)
    weights = np.minimum(np.rint(4 * np.sqrt(len(sample) / filled)), HEAVIEST).astype(np.float32)
    for piece in pieces:
        vectors[piece] = _scaled(vectors[piece] * weights)
    centres = _first_centres(vectors, max(1, min(CLUSTERS, len(sample) // LEAST)), seed)
    for _ in range(ROUNDS):
        centres = _moved(vectors, centres)
    return Clusters(weights, centres, _richness(sample, _nearest(vectors, centres), len(centres)))


def _richness(sample: Sequence[bytes], clusters: Numbers, number: int) -> list[int]:
    texts = (compress(sample, (clusters == one).tolist()) for one in range(number))
    return [max(1, len(np.unique(_runs(b"\n".join(text))))) for text in texts]


def count_runs(text: bytes) -> Vectors:
    """For each line of a text how many of its runs fall into each box, at most 7; its line feed counts."""
    ends, runs = line_ends(text), _runs(text)
    lines = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))[: len(runs)]
    inside = np.arange(RUN, len(runs) + RUN) <= ends[lines]
    boxes = (runs * FACTOR >> np.uint64(64 - BITS)).astype(np.int64)
    counts = np.bincount((lines * BOXES + boxes)[inside], minlength=len(ends) * BOXES)
    return np.minimum(counts, MOST).astype(np.float32).reshape(len(ends), BOXES)


def _runs(text: bytes) -> npt.NDArray[np.uint64]:
    """All runs of six bytes, capitals of ASCII as small letters; those across lines are among them."""
    codes = np.frombuffer(text.lower(), dtype=np.uint8)
    runs: npt.NDArray[np.uint64] = np.zeros(max(0, len(codes) - RUN + 1), dtype=np.uint64)
    for place in range(RUN):
        runs = (runs << np.uint64(8)) | codes[place : place + len(runs)]
    return runs


def _scaled(vectors: npt.NDArray[np.floating]) -> Vectors:
    """The vectors at the length of centres, rounded; one without any run stays as it is."""
    exact = vectors.astype(np.float64)
    lengths = np.sqrt((exact * exact).sum(axis=1, keepdims=True))
    scaled: Vectors = np.rint(exact * LENGTH / np.maximum(lengths, 1)).astype(np.float32)
    return scaled


def _nearest(vectors: Vectors, centres: Vectors) -> Numbers:
    nearest: Numbers = np.argmax(vectors @ centres.T, axis=1).astype(np.uint8)
    return nearest


def _first_centres(vectors: Vectors, number: int, seed: str) -> Vectors:
    """Lines of the sample, each drawn with a chance by its distance from those that were drawn before."""
    likeness = np.zeros(len(vectors), dtype=np.float32)
    drawn: list[int] = []
    for place in places(0, number, seed).tolist():
        chances = np.cumsum(np.maximum(LENGTH * LENGTH - likeness, 0).astype(np.int64))
        if not chances[-1]:  # all lines are like those that were drawn
            break
        drawn.append(int(np.searchsorted(chances, place % int(chances[-1]), side="right")))
        likeness = np.maximum(likeness, vectors @ vectors[drawn[-1]])
    return vectors[drawn]


def _moved(vectors: Vectors, centres: Vectors) -> Vectors:
    """The centres in the middle of the lines that are nearest to them; one without any stays."""
    nearest = _nearest(vectors, centres)
    moved = centres.copy()
    for number in np.unique(nearest).tolist():
        total = vectors[nearest == number].sum(axis=0, dtype=np.float64)
        moved[number] = _scaled(total[np.newaxis])[0]
    return moved
