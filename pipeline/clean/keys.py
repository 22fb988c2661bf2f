"""Keys of lines: two lines have the same key when they count as the same text.

They do when they agree in normal form (pipeline.common.text) or, as near-duplicates, in their letters, marks
and digits, whatever case, punctuation and white space are. A key is a 128-bit hash (XXH3) of that: among 10^9
texts two different ones share a key with a chance of about 10^-21.
"""

import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import regex
from xxhash import xxh3_128_digest

from pipeline.common.line_blocks import fail, line_ends, read_blocks

Keys: TypeAlias = npt.NDArray[np.uint64]  # of shape (lines, 2)
Places: TypeAlias = npt.NDArray[np.int64]

# The white space of `str.split`, but for space and line feed.
NARROW_SPACES = tuple(bytes([code]) for code in b"\t\x0b\x0c\r\x1c\x1d\x1e\x1f")
WIDE_SPACES = (*"\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000", *map(chr, range(0x2000, 0x200B)))
_BY_FIRST_BYTE = {
    first: tuple(space for space in WIDE_SPACES if space.encode()[:1] == first)
    for first in sorted({space.encode()[:1] for space in WIDE_SPACES})
}
NOT_IN_WORDS = regex.compile(r"[^\p{L}\p{M}\p{N}\n]+")
KEY_BYTES = 16
PAIR_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that no bit of the first side is lost


def keys_of(lines: list[bytes]) -> Keys:
    """The keys of lines that are in the form that counts."""
    return np.frombuffer(b"".join(map(xxh3_128_digest, lines)), dtype="<u8").reshape(-1, 2)


@cache
def empty_key() -> Keys:
    """The key of a line without text."""
    key: Keys = keys_of([b""])[0]
    return key


def read_keys(path: Path, *, near: bool = False) -> Iterator[tuple[int, Keys]]:
    """Read a file of text in blocks: how many bytes a block has, and the keys of its lines.

    `near` gives near-duplicates the same key. Raises InputError for a damaged file and for invalid UTF-8.
    """
    for block in read_blocks(path):
        try:
            lines = normal_lines(block)
        except UnicodeDecodeError:
            fail(path)
        yield len(block), keys_of(words_only(lines) if near else lines)


def pair_keys(src: Keys, trg: Keys) -> Keys:
    """The keys of pairs by those of their sides, which may not change places."""
    return src * PAIR_FACTOR + trg


def normal_lines(block: bytes) -> list[bytes]:
    """The normal form of each line of a block, in UTF-8."""
    special = _special_places(block)
    if len(special) > len(block) // 16:
        return _normalised(block)
    lines = block.split(b"\n")[:-1]
    if numbers := _lines_at(special, block):
        normal = _normalised(b"".join([lines[number] + b"\n" for number in numbers]))
        for number, line in zip(numbers, normal, strict=True):
            lines[number] = line
    return lines


def _special_places(block: bytes) -> Places:
    """Places in all lines that may not be in normal form, or in UTF-8; few in many languages.

    A line without one has no spaces but single ones between words, and no characters but ASCII, Latin letters
    (U+00C0 to U+027F) and Cyrillic ones (U+0400 to U+047F): NFC changes these only where others follow.
    """
    codes = np.frombuffer(b"\n" + block, dtype=np.uint8)
    spaces = codes <= ord(" ")
    special = spaces[1:] & spaces[:-1]
    special |= (codes < ord(" "))[1:] != (codes == ord("\n"))[1:]
    if not block.isascii():
        first = (codes - np.uint8(0xC3) < 7) | (codes - np.uint8(0xD0) < 2)  # bytes of these letters
        second = codes & np.uint8(0xC0) == 0x80
        special |= second[1:] != first[:-1]
        special |= ((codes >= 0xC0) != first)[1:]
    return np.flatnonzero(special)


def _normalised(block: bytes) -> list[bytes]:
    """The normal form of each line, whatever it holds."""
    block = _with_plain_spaces(block)
    lines = block.split(b"\n")[:-1]
    for number in _odd_lines(block):
        lines[number] = b" ".join(lines[number].split())
    return lines


def _with_plain_spaces(block: bytes) -> bytes:
    """The block in NFC, all white space made spaces; done at once, since hardly a line needs it."""
    for narrow in NARROW_SPACES:
        if narrow in block:
            block = block.replace(narrow, b" ")
    if block.isascii():
        return block
    text = block.decode("utf-8")
    # A line feed takes part in no composition, so the lines' normal forms are those of the whole.
    normal = unicodedata.normalize("NFC", text)
    for first, spaces in _BY_FIRST_BYTE.items():
        if first in block:
            for wide in spaces:
                normal = normal.replace(wide, " ")
    return block if normal == text else normal.encode("utf-8")


def _odd_lines(block: bytes) -> list[int]:
    """Lines that are empty, begin or end with a space or have two in a row, and a few others."""
    spaces = np.frombuffer(b"\n" + block, dtype=np.uint8) <= ord(" ")
    return _lines_at(np.flatnonzero(spaces[1:] & spaces[:-1]), block)


def _lines_at(places: Places, block: bytes) -> list[int]:
    """The numbers of the lines of a block in which these places are."""
    if not len(places):
        return []
    found: list[int] = np.unique(np.searchsorted(line_ends(block), places, side="right")).tolist()
    return found


def words_only(lines: list[bytes]) -> list[bytes]:
    """Letters, marks and digits of each line in lower case; of a line that has none, the whole line."""
    if not lines:
        return []
    text = b"\n".join(lines).decode("utf-8").casefold()
    words = NOT_IN_WORDS.sub("", text).encode("utf-8").split(b"\n")
    return [word or line for word, line in zip(words, lines, strict=True)]


class KeySet:
    """A set of keys, asked of many at a time."""

    _BITS = 20  # of a key's first half, in a table that turns away nearly all that are not in the set

    def __init__(self, keys: Keys) -> None:
        self._members = {key.tobytes() for key in keys}
        self._table = np.zeros(1 << self._BITS, dtype=bool)
        self._table[self._places(keys)] = True

    def holds(self, keys: Keys) -> npt.NDArray[np.bool_]:
        """For each key whether it is in the set."""
        held = self._table[self._places(keys)]
        for number in np.flatnonzero(held).tolist():
            held[number] = keys[number].tobytes() in self._members
        return held

    def _places(self, keys: Keys) -> npt.NDArray[np.uint64]:
        return keys[:, 0] >> np.uint64(64 - self._BITS)
