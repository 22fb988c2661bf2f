"""Lines that say the same over and over, as a model does that has lost its way.

The measure follows that of oscillations in Raunak, Menezes and Junczys-Dowmunt, "The Curious Case of
Hallucinations in Neural Machine Translation" (NAACL 2021), which compares repeated n-grams of a translation
with those of its source. Here n-grams are of letters: one measure for all scripts, with spaces or without.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.checks.letters import BLOCK_LINES, Letters, mix
from pipeline.common.sampling import Reservoir

SAMPLE = 20_000  # pairs: a share of 2 % is right to 0.1 %
SIZE = 8  # letters of an n-gram
EXCESS = 0.4  # of a side's n-grams are repeated in their line, over the share of the other side
SAMPLES = 5
SAMPLE_CHARACTERS = 300


class Loops:
    """A sample of pairs, in which each side is compared with the other one."""

    def __init__(self, seed: int) -> None:
        self._pairs: Reservoir[tuple[str, str]] = Reservoir(SAMPLE, f"loops {seed}")

    def add(self, sources: Sequence[str], targets: Sequence[str]) -> None:
        """Add a block of pairs."""
        for pair in zip(sources, targets, strict=True):
            self._pairs.add(pair)

    def to_json(self) -> list[dict[str, Any]]:
        """For each side the lines that repeat themselves far more than their other side does."""
        pairs = self._pairs.items()
        sides = [[pair[side] for pair in pairs] for side in (0, 1)]
        first, second = map(repeated_shares, sides)
        return [_side(sides[0], first - second), _side(sides[1], second - first)]


def _side(lines: Sequence[str], excess: npt.NDArray[np.float64]) -> dict[str, Any]:
    found = np.flatnonzero(excess > EXCESS).tolist()
    return {
        "asked": len(lines),
        "lines": len(found),
        "share": round(len(found) / len(lines), 6) if lines else 0.0,
        "samples": [lines[line][:SAMPLE_CHARACTERS] for line in found[:SAMPLES]],
    }


def repeated_shares(lines: Sequence[str]) -> npt.NDArray[np.float64]:
    """For each line the share of its n-grams that came before in it; 0 for lines with less than two."""
    blocks = (lines[start : start + BLOCK_LINES] for start in range(0, len(lines), BLOCK_LINES))
    return np.concatenate([np.zeros(0), *map(_repeated_shares, blocks)])


def _repeated_shares(lines: Sequence[str]) -> npt.NDArray[np.float64]:
    letters = Letters(lines)
    hashes = letters.part_hashes(SIZE)
    places = letters.lines_at(np.arange(len(hashes)))
    whole = np.arange(SIZE, SIZE + len(hashes)) <= letters.bounds[places + 1]
    hashes, places = hashes[whole], places[whole]
    # The same n-gram in two lines is two: the line's number is mixed into its hash.
    _, firsts = np.unique(mix(hashes) ^ mix(places.astype(np.uint64) + np.uint64(1)), return_index=True)
    all_ = np.bincount(places, minlength=len(lines))
    distinct = np.bincount(places[firsts], minlength=len(lines))
    return np.asarray((all_ - distinct) / np.maximum(1, all_))
