"""Lexical translation probabilities p(target | source), counted from alignments, and their shortlist.

The counts are those of Moses' and Marian's extract_lex: each link is a joint occurrence, and a source unit
without a link is a joint occurrence with NULL, which takes its share of the probability but is never listed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.alignments.symmetrize import Link


class Entry(NamedTuple):
    """A target unit that may translate a source unit, with p(target | source)."""

    target: int
    source: int
    probability: float


class Lexicon:
    """Counts of how units (ids of pieces) are linked. Memory grows with the number of different pairs."""

    def __init__(self) -> None:
        self._pairs: dict[int, Counter[int]] = defaultdict(Counter)
        self._totals: Counter[int] = Counter()

    def add(self, source: Sequence[int], target: Sequence[int], links: Sequence[Link]) -> None:
        """Count the links of one sentence pair; raises IndexError for a link outside the sentence."""
        for position, translation in links:
            self._pairs[source[position]][target[translation]] += 1
            self._totals[source[position]] += 1
        linked = {position for position, _ in links}
        self._totals.update(unit for position, unit in enumerate(source) if position not in linked)

    def best(self, size: int) -> Iterator[Entry]:
        """Yield the `size` likeliest targets of each source unit, the likeliest first, else by id."""
        for source, targets in sorted(self._pairs.items()):
            ranked = sorted(targets.items(), key=lambda item: (-item[1], item[0]))
            for target, count in ranked[:size]:
                yield Entry(target, source, count / self._totals[source])
