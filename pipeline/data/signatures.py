"""Signatures of lines, by which an index finds those that may hold a sentence, or be nearly the same.

The letters of a line are all of its characters but white space, as chrF takes them. Its signature has 1.6
bits for each letter, and 24 more; every three letters that follow each other set one of them. Bits that a
sentence sets and a line does not are letters that the line lacks. So no line is ever lost: one that holds the
sentence has all of its bits, and chrF has an upper bound by the number of missing ones (`most_chrf`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

GRAM = 3  # letters that set a bit
LETTERS_A_BYTE = 5
MORE_BYTES = 3
WIDEST = 255  # bytes; those of more than 1,260 letters are fuller than others
SEGMENT = 1 << 18  # lines whose signatures stand together in an index, by their widths
ORDER = 6  # of chrF: n-grams of one to six letters
BETA_SQUARED = 4
_MIX = (0x9E3779B1, 0x85EBCA6B)  # odd numbers, by which hashes are multiplied

Bytes: TypeAlias = npt.NDArray[np.uint8]
Hashes: TypeAlias = npt.NDArray[np.uint32]
Numbers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Signatures:
    """Signatures of lines: bytes of each, and all of them one after another."""

    widths: Bytes
    flat: Bytes


def letters_of(line: str) -> str:
    """The characters of a line but white space."""
    return "".join(line.split())


def most_letters(width: int) -> int:
    """The most letters that have a signature of so many bytes, if it is not of the widest."""
    return (width - MORE_BYTES) * LETTERS_A_BYTE


def signatures(lines: Sequence[str]) -> Signatures:
    """The signatures of lines, in their order."""
    texts = [letters_of(line) for line in lines]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    widths = np.minimum(-(-lengths // LETTERS_A_BYTE) + MORE_BYTES, WIDEST)
    hashes = hashes_of("".join(texts))
    starts, owners = np.cumsum(lengths) - lengths, np.repeat(np.arange(len(texts)), lengths)[: len(hashes)]
    inside = np.arange(len(hashes)) <= (starts + lengths - GRAM)[owners]  # all three letters are the line's
    owners, hashes = owners[inside], hashes[inside]
    first_bits = 8 * (np.cumsum(widths) - widths)
    bits = np.zeros(8 * int(widths.sum()), np.uint8)
    bits[first_bits[owners] + _places(hashes, widths[owners])] = 1
    return Signatures(widths.astype(np.uint8), np.packbits(bits))


def by_width(widths: Bytes) -> Iterator[tuple[int, Numbers]]:
    """Each width, the narrowest first, and the numbers of the lines that have it: a segment's order."""
    order, counts = np.argsort(widths, kind="stable"), np.bincount(widths, minlength=WIDEST + 1)
    ends = np.cumsum(counts)
    for width in np.flatnonzero(counts).tolist():
        yield width, order[ends[width] - counts[width] : ends[width]]


def hashes_of(letters: str) -> Hashes:
    """The hashes of every three letters that follow each other."""
    codes = np.frombuffer(letters.encode("utf-32-le", "surrogatepass"), np.uint32)
    number = max(0, len(codes) - GRAM + 1)
    hashes: Hashes = np.zeros(number, np.uint32)
    for place in range(GRAM):
        hashes = hashes * np.uint32(_MIX[0]) + codes[place : place + number]
    hashes ^= hashes >> np.uint32(15)
    hashes *= np.uint32(_MIX[1])
    return hashes ^ (hashes >> np.uint32(13))


def bits_in(hashes: Hashes, width: int) -> Bytes:
    """The signature that some hashes set in so many bytes."""
    bits = np.zeros(8 * width, np.uint8)
    bits[_places(hashes, np.int64(width))] = 1
    return np.packbits(bits)


def _places(hashes: Hashes, widths: "Numbers | np.int64") -> Numbers:
    """The bits that hashes set in signatures of so many bytes: 0 is the first."""
    return (hashes.astype(np.int64) * (8 * widths)) >> 32


def most_chrf(reference: int, letters: int, missing: int) -> float:
    """The highest chrF that a line can have against a sentence, 0 to 100.

    reference  letters of the sentence
    letters    those of the line
    missing    of the sentence's places where three letters begin, those whose letters the line lacks

    With each such place goes one n-gram of each order from three on: of those places that come last, the
    n-grams that end there, of the others those that begin there.
    """
    precision = recall = 0.0
    orders = min(ORDER, reference, letters)
    for order in range(1, orders + 1):
        wanted, has = reference - order + 1, letters - order + 1
        shared = min(has, wanted if order < GRAM else max(0, wanted - missing))
        precision, recall = precision + shared / has, recall + shared / wanted
    if not recall:
        return 0.0
    precision, recall = precision / orders, recall / orders
    return 100 * (1 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall)
