"""The share of lines that repeat an earlier one, in bounded memory."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.checks.letters import Hashes, Positions, mix

CAPACITY = 1 << 22
SAMPLES = 5
SAMPLE_CHARACTERS = 300


class Repetitions:
    """Counts hashes that came before.

    Beyond CAPACITY hashes it keeps only those below a limit, which is halved whenever they are too many: of
    each text all copies are kept or none, so that the share stays right on average.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._kept: list[Hashes] = []
        self._size = 0
        self._halvings = 0
        self._samples: list[str] = []

    def add(self, hashes: Hashes, places: Positions, lines: Sequence[str]) -> None:
        """Add the hashes of those lines of a block that stand at the places; they serve as examples."""
        mixed = mix(hashes)
        if len(self._samples) < SAMPLES:
            self._keep_samples(mixed, places, lines)
        self._kept.append(self._below(mixed))
        self._size += len(self._kept[-1])
        while self._size > self._capacity:
            self._halvings += 1
            self._kept = [self._below(np.concatenate(self._kept))]
            self._size = len(self._kept[0])

    def _below(self, hashes: Hashes) -> Hashes:
        return hashes[hashes >> np.uint64(64 - self._halvings) == 0] if self._halvings else hashes

    def _keep_samples(self, hashes: Hashes, places: Positions, lines: Sequence[str]) -> None:
        _, firsts, counts = np.unique(hashes, return_index=True, return_counts=True)
        for first in sorted(places[firsts[counts > 1]].tolist())[: SAMPLES - len(self._samples)]:
            self._samples.append(lines[first][:SAMPLE_CHARACTERS])

    def to_json(self) -> dict[str, Any]:
        """The share of lines that repeat an earlier one, of how many it was found, and a few of them."""
        counted, distinct = self._size, self._distinct()
        return {
            "counted": counted,
            "repeated": counted - distinct,
            "share": round(1 - distinct / counted, 6) if counted else 0.0,
            "samples": self._samples,
        }

    def distinct(self) -> int:
        """How many different lines there are; beyond CAPACITY an estimate, right to a thousandth."""
        return self._distinct() << self._halvings

    def _distinct(self) -> int:
        return len(np.unique(np.concatenate([np.zeros(0, dtype=np.uint64), *self._kept])))
