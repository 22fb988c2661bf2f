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

    Beyond CAPACITY different hashes it keeps only those below a limit, which is halved whenever they are too
    many. Copies are counted, not kept: those of one line may be more than all other lines together.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._kept: Hashes = np.zeros(0, dtype=np.uint64)  # different ones
        self._new: list[Hashes] = []
        self._new_size = 0
        self._counted = 0
        self._halvings = 0
        self._samples: list[str] = []

    def add(self, hashes: Hashes, places: Positions, lines: Sequence[str]) -> None:
        """Add the hashes of those lines of a block that stand at the places; they serve as examples."""
        mixed = mix(hashes)
        if len(self._samples) < SAMPLES:
            self._keep_samples(mixed, places, lines)
        self._counted += len(mixed)
        self._new.append(self._below(mixed))
        self._new_size += len(self._new[-1])
        if self._new_size > self._capacity // 4:
            self._join()

    def _join(self) -> None:
        self._kept = np.unique(np.concatenate([self._kept, *self._new]))
        self._new, self._new_size = [], 0
        while len(self._kept) > self._capacity:
            self._halvings += 1
            self._kept = self._below(self._kept)

    def _below(self, hashes: Hashes) -> Hashes:
        return hashes[hashes >> np.uint64(64 - self._halvings) == 0] if self._halvings else hashes

    def _keep_samples(self, hashes: Hashes, places: Positions, lines: Sequence[str]) -> None:
        _, firsts, counts = np.unique(hashes, return_index=True, return_counts=True)
        for first in sorted(places[firsts[counts > 1]].tolist())[: SAMPLES - len(self._samples)]:
            self._samples.append(lines[first][:SAMPLE_CHARACTERS])

    def to_json(self) -> dict[str, Any]:
        """The share of lines that repeat an earlier one, of how many it was found, and a few of them."""
        repeated = max(0, self._counted - self.distinct())
        return {
            "counted": self._counted,
            "repeated": repeated,
            "share": round(repeated / self._counted, 6) if self._counted else 0.0,
            "samples": self._samples,
        }

    def distinct(self) -> int:
        """How many different lines there are; beyond CAPACITY an estimate, right to a thousandth."""
        self._join()
        return len(self._kept) << self._halvings
