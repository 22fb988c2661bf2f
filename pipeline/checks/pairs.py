"""Numbers of parallel texts: how the sides of pairs go together, and whether they say different things."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pipeline.checks.lengths import LengthRatios
from pipeline.checks.letters import Hashes, Letters, pair_hashes
from pipeline.checks.loops import Loops
from pipeline.checks.repetitions import Repetitions

SAMPLES = 5
SAMPLE_CHARACTERS = 300


class Pairs:
    """Reads two texts once, block by block; see `pipeline.checks.text` for what it finds."""

    def __init__(self, seed: int) -> None:
        self._ratios, self._copies, self._loops = LengthRatios(), Copies(), Loops(seed)
        self._lines = Repetitions(), Repetitions()

    def add(self, block: Sequence[Sequence[str]], letters: Sequence[Letters]) -> None:
        """Add a block of pairs."""
        self._ratios.add(*block)
        self._copies.add(block[0], block[1], letters)
        self._loops.add(*block)
        for lines, texts, found in zip(self._lines, block, letters, strict=True):
            add_repetitions(lines, [texts], [found])

    def to_json(self) -> dict[str, Any]:
        """What was found."""
        return {
            "copied": self._copies.to_json(),
            "length_ratio": self._ratios.to_json(),
            "distinct": [lines.distinct() for lines in self._lines],
            "loops": self._loops.to_json(),
        }


class Copies:
    """Pairs whose sides have the same letters; those without letters, such as numbers, do not count."""

    def __init__(self) -> None:
        self._copied = 0
        self._with_letters = 0
        self._samples: list[list[str]] = []

    def add(self, sources: Sequence[str], targets: Sequence[str], letters: Sequence[Letters]) -> None:
        """Add a block of pairs."""
        has_letters = letters[0].lengths > 0
        same = (letters[0].line_hashes == letters[1].line_hashes) & has_letters
        self._with_letters += int(has_letters.sum())
        self._copied += int(same.sum())
        for line in np.flatnonzero(same)[: SAMPLES - len(self._samples)].tolist():
            self._samples.append([sources[line][:SAMPLE_CHARACTERS], targets[line][:SAMPLE_CHARACTERS]])

    def to_json(self) -> dict[str, Any]:
        """Their number and share, and a few of them."""
        share = round(self._copied / self._with_letters, 6) if self._with_letters else 0.0
        return {"lines": self._copied, "share": share, "samples": self._samples}


def add_repetitions(
    repetitions: Repetitions, block: Sequence[Sequence[str]], letters: Sequence[Letters]
) -> None:
    """Add the hashes of the lines that have letters on all sides."""
    sides = [side.line_hashes for side in letters]
    hashes: Hashes = pair_hashes(*sides) if len(sides) > 1 else sides[0]
    with_letters = np.all([side.lengths > 0 for side in letters], axis=0)
    repetitions.add(hashes[with_letters], np.flatnonzero(with_letters), block[0])
