"""Lexical translation probabilities p(target | source), counted from alignments, and their shortlist.

The counts are those of Moses' and Marian's extract_lex: each link is a joint occurrence, and a source unit
without a link is a joint occurrence with NULL, which takes its share of the probability but is never listed.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.alignments.symmetrize import Link

PENDING = 1_000_000  # links that are counted at a time, at least
SHARE = 10  # as many as there are pairs, divided by this, so that pairs are seldom moved
TARGET_BITS = 32


class Entry(NamedTuple):
    """A target unit that may translate a source unit, with p(target | source)."""

    target: int
    source: int
    probability: float


class Lexicon:
    """Counts of how units (ids of pieces) are linked.

    Each different pair takes 12 bytes, and as much again while new ones are put among them.
    """

    def __init__(self) -> None:
        # Ascending: the source unit in the upper bits, the target unit in the lower ones
        self._pairs: NDArray[np.int64] = np.empty(0, np.int64)
        self._counts: NDArray[np.uint32] = np.empty(0, np.uint32)
        self._totals: Counter[int] = Counter()
        self._pending = array("q")

    def add(self, source: Sequence[int], target: Sequence[int], links: Sequence[Link]) -> None:
        """Count the links of one sentence pair; raises IndexError for a link outside the sentence."""
        self._pending.extend([source[one] << TARGET_BITS | target[other] for one, other in links])
        self._totals.update([source[one] for one, _ in links])
        linked = {position for position, _ in links}
        self._totals.update(unit for position, unit in enumerate(source) if position not in linked)
        if len(self._pending) >= max(PENDING, len(self._pairs) // SHARE):
            self._count()

    def best(self, size: int) -> Iterator[Entry]:
        """Yield the `size` likeliest targets of each source unit, the likeliest first, else by id."""
        self._count()
        units = np.arange(max(self._totals, default=-1) + 2, dtype=np.int64)
        ends = np.searchsorted(self._pairs, units << TARGET_BITS)
        for source, (start, end) in enumerate(pairwise(ends.tolist())):
            targets = self._pairs[start:end] - (source << TARGET_BITS)
            counts = self._counts[start:end].astype(np.int64)
            ranked = np.argsort(-counts, kind="stable")[:size]
            for target, count in zip(targets[ranked].tolist(), counts[ranked].tolist(), strict=True):
                yield Entry(target, source, count / self._totals[source])

    def _count(self) -> None:
        pairs, counts = np.unique(np.frombuffer(self._pending, np.int64), return_counts=True)
        self._pending = array("q")
        places = np.searchsorted(self._pairs, pairs)
        known = places < len(self._pairs)
        known[known] = self._pairs[places[known]] == pairs[known]
        self._counts[places[known]] += counts[known].astype(np.uint32)
        self._pairs = np.insert(self._pairs, places[~known], pairs[~known])
        self._counts = np.insert(self._counts, places[~known], counts[~known])
