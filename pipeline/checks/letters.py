"""The letters of many lines at once, and hashes of lines and of parts of them, by numpy.

Lines are compared by their letters: in NFC, case folded, without punctuation, digits and white space. A
thread hashes a few hundred thousand lines a second, and all their parts of n letters as well.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines

Hashes: TypeAlias = npt.NDArray[np.uint64]
Positions: TypeAlias = npt.NDArray[np.int64]

BLOCK_LINES = 8192
CODES = 0x110000
LINE_FEED = 10
BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
PAIR_FACTOR = np.uint64(0xD6E8FEB86659FD93)
INVERSE = pow(BASE, -1, 1 << 64)


def read_blocks(paths: Sequence[Path], lines: int = BLOCK_LINES) -> Iterator[list[list[str]]]:
    """The lines of parallel files, some thousands at a time; InputError when one ends early."""
    readers = [read_lines(path) for path in paths]
    read = 0
    while True:
        block = [list(islice(reader, lines)) for reader in readers]
        if len({len(side) for side in block}) > 1:
            counts = ", ".join(
                f"{path}: {read + len(side):,}{'' if len(side) < lines else ' or more'}"
                for path, side in zip(paths, block, strict=True)
            )
            raise InputError(
                f"Unequal numbers of lines ({counts}). The files must be parallel, line by line."
            )
        if not block[0]:
            return
        read += len(block[0])
        yield block


class Letters:
    """The letters of a block of lines, side by side, and hashes of any stretch of them.

    codes   code points
    bounds  line i has the letters bounds[i] to bounds[i + 1]

    The hash of a stretch is a polynomial modulo 2^64 over a random number for each letter, which is
    independent of where it stands: (S[end] - S[start]) / BASE^start for the sums S of number * BASE^position.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        text = unicodedata.normalize("NFC", "\n".join(lines)).casefold()
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        kept = codes[_kept()[codes]]
        feeds = np.flatnonzero(kept == LINE_FEED)
        self.codes = np.delete(kept, feeds)
        ends = feeds - np.arange(len(feeds))
        self.bounds: Positions = np.concatenate(([0], ends, [len(self.codes)]))
        self._sums = np.zeros(len(self.codes) + 1, dtype=np.uint64)
        np.cumsum(_numbers()[self.codes] * _powers(BASE, len(self.codes)), out=self._sums[1:])

    @cached_property
    def lengths(self) -> Positions:
        """Number of letters of each line."""
        return np.diff(self.bounds)

    @cached_property
    def line_hashes(self) -> Hashes:
        """A hash for each line; lines without letters have 0."""
        starts = self.bounds[:-1]
        inverses = _powers(INVERSE, len(self.codes) + 1)
        return np.asarray((self._sums[self.bounds[1:]] - self._sums[starts]) * inverses[starts])

    def part_hashes(self, size: int) -> Hashes:
        """A hash for each stretch of `size` letters, wherever it begins, also across lines."""
        count = len(self.codes) - size + 1
        if count < 1:
            return np.zeros(0, dtype=np.uint64)
        return np.asarray((self._sums[size:] - self._sums[:count]) * _powers(INVERSE, count))

    def lines_at(self, positions: Positions) -> Positions:
        """The lines in which stretches begin."""
        return np.asarray(np.searchsorted(self.bounds, positions, side="right") - 1)

    def of_line(self, line: int) -> str:
        """The letters of a line."""
        return str(self.codes[self.bounds[line] : self.bounds[line + 1]].tobytes(), "utf-32-le")


@cache
def _kept() -> npt.NDArray[np.bool_]:
    """Which code points are letters, or marks on letters; and the line feed, which parts lines."""
    categories = "".join(unicodedata.category(chr(code))[0] for code in range(CODES))
    kept = np.isin(np.frombuffer(categories.encode(), dtype="S1"), [b"L", b"M"])
    kept[LINE_FEED] = True
    return kept


@cache
def _numbers() -> Hashes:
    """A number for each code point that looks random (SplitMix64, Steele et al. 2014)."""
    return mix(np.arange(1, CODES + 1, dtype=np.uint64) * np.uint64(BASE))


def pair_hashes(src: Hashes, trg: Hashes) -> Hashes:
    """The hashes of pairs by those of their sides, which may not change places."""
    return np.asarray(src * PAIR_FACTOR + trg)


def mix(numbers: Hashes) -> Hashes:
    """Spread the bits of numbers, the finalizer of SplitMix64; different numbers stay different."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


_TABLES: dict[int, Hashes] = {}


def _powers(base: int, count: int) -> Hashes:
    """base^0, base^1 … modulo 2^64; kept for the next block."""
    table = _TABLES.get(base)
    if table is None or len(table) < count:
        factors = np.full(max(count, 1 << 16), base, dtype=np.uint64)
        factors[0] = 1
        table = _TABLES[base] = np.multiply.accumulate(factors)
    return table[:count]
