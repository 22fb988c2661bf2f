"""Lines that may hold a sentence, or be nearly the same, by the index of their text."""

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pipeline.data.signatures import (
    LETTERS_A_BYTE,
    SEGMENT,
    WIDEST,
    Bytes,
    Numbers,
    bits_in,
    by_width,
    hashes_of,
    most_chrf,
    most_letters,
)
from pipeline.data.text_index import SIGNATURES, WIDTHS

NEAR = 80.0  # chrF of a line against a sentence from which on it is nearly the same
FEWEST_LETTERS = 10  # of a sentence that is looked for inside of lines, and nearly the same
_ROUNDING = 1e-6  # of chrF


class Sentence:
    """A sentence that is looked for, with white space as in one with single spaces."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())
        self.letters = "".join(text.split())
        self.is_long = len(self.letters) >= FEWEST_LETTERS
        self._hashes = hashes_of(self.letters)
        self._known: dict[int, tuple[Bytes, int]] = {}

    def may_be(self, letters: int, missing: int) -> bool:
        """True if a line of so many letters may be nearly the same, that lacks the letters of some places."""
        return most_chrf(len(self.letters), letters, missing) >= NEAR - _ROUNDING

    def among(self, columns: Bytes) -> npt.NDArray[np.bool_]:
        """For each column, the signature of a line, of equally many bytes: whether the line may be found."""
        bits, spare = self._of_width(len(columns))
        wanted = int(np.bitwise_count(bits).sum())
        counts = np.uint8 if wanted < 256 else np.uint16
        shared: npt.NDArray[np.unsignedinteger[Any]] = np.zeros(columns.shape[1], counts)
        byte_shared = np.empty(columns.shape[1], np.uint8)
        for byte in np.flatnonzero(bits).tolist():
            np.bitwise_and(columns[byte], bits[byte], out=byte_shared)
            shared += np.bitwise_count(byte_shared, out=byte_shared)
        found: npt.NDArray[np.bool_] = shared >= max(0, wanted - spare)
        return found

    def is_sought(self, width: int) -> bool:
        """True if any line with a signature of so many bytes may be found."""
        return self._of_width(width)[1] >= 0

    def _of_width(self, width: int) -> tuple[Bytes, int]:
        """The sentence's signature in so many bytes, and the most of its bits that a line may lack."""
        if width not in self._known:
            self._known[width] = bits_in(self._hashes, width), self._most_missing(width)
        return self._known[width]

    def _most_missing(self, width: int) -> int:
        """The most bits that a line with a signature of so many bytes may lack; -1 if it is no candidate."""
        own, most = len(self.letters), most_letters(width)
        fewest = max(0, most - LETTERS_A_BYTE + 1)
        may_hold = own <= most or width == WIDEST
        if not self.is_long:
            return 0 if may_hold and own >= fewest else -1
        # no longer line has a higher bound than one of as many letters
        lengths = range(fewest, max(fewest, own if width == WIDEST else most) + 1)
        near = max(
            bisect_left(range(own), True, key=lambda missing: not self.may_be(length, missing)) - 1
            for length in lengths
        )
        return max(near, 0 if may_hold else -1)


def candidates(index: Path, sentence: Sentence) -> tuple[int, Numbers]:
    """The lines of a text, and the numbers of those that may be found, in order; 0 is the first line."""
    widths: Bytes = np.load(index / WIDTHS)
    if not len(widths):
        return 0, np.empty(0, np.int64)
    flat: Bytes = np.asarray(np.load(index / SIGNATURES, mmap_mode="r"))
    return len(widths), np.sort(np.concatenate([*_found(widths, flat, sentence), np.empty(0, np.int64)]))


def _found(widths: Bytes, flat: Bytes, sentence: Sentence) -> Iterator[Numbers]:
    place = 0
    for first in range(0, len(widths), SEGMENT):
        for width, lines in by_width(widths[first : first + SEGMENT]):
            end = place + width * len(lines)
            if sentence.is_sought(width):
                columns = flat[place:end].reshape(width, len(lines))
                yield first + lines[sentence.among(columns)]
            place = end
