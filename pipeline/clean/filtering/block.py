"""A block of pairs on their way through the filters.

Filters look at all lines of a side at once: its characters stand in one array, so that counting letters or
words costs nanoseconds a character. What only few lines can concern (an entity, a web address) is looked for
in the array, and only those lines are worked on one by one.
"""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import compress
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.clean.tally import Identified

Mask: TypeAlias = npt.NDArray[np.bool_]
Counts: TypeAlias = npt.NDArray[np.integer]
Table: TypeAlias = npt.NDArray[np.bool_]

CODE_POINTS = 0x110000


@cache
def every_character() -> str:
    """All of Unicode's code points in one text, to find out which of them a regular expression matches."""
    return "".join(map(chr, range(CODE_POINTS)))


def table_of(characters: Iterable[str]) -> Table:
    """For each code point whether it is one of the characters."""
    table = np.zeros(CODE_POINTS, dtype=bool)
    table[[ord(character) for character in characters]] = True
    return table


# What several filters ask of a character; one look into one table tells it all.
SPACE = 1  # white space, as `str.split` and `str.strip` take it
DIGIT = 2  # a digit of any script, as `\d` matches it
COMPOSED = 4  # may be changed by composing letters with their accents (NFC), alone or with what is before it


@cache
def kinds() -> npt.NDArray[np.uint8]:
    """The kinds of every code point."""
    table = np.zeros(CODE_POINTS, dtype=np.uint8)
    table[table_of(filter(str.isspace, every_character()))] |= SPACE
    table[table_of(filter(str.isdecimal, every_character()))] |= DIGIT
    table[table_of(_composed())] |= COMPOSED
    return table


def _composed() -> Iterator[str]:
    for character in every_character():
        if unicodedata.combining(character) or unicodedata.normalize("NFC", character) != character:
            yield character
        # What others are composed with: the second parts of decompositions, vowels and finals of Hangul.
        parts = unicodedata.decomposition(character).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            yield chr(int(parts[1], 16))
    yield from map(chr, range(0x1161, 0x1200))


class Column:
    """The lines of one side of a block, none of them with a line feed."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    @cached_property
    def codes(self) -> npt.NDArray[np.uint32]:
        """The code points of all lines, each line ended by a line feed."""
        text = "\n".join([*self.lines, ""])
        return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)

    @cached_property
    def ends(self) -> Counts:
        """Where the line feed of each line stands."""
        return np.flatnonzero(self.codes == ord("\n"))

    @cached_property
    def starts(self) -> Counts:
        """Where each line begins."""
        return np.concatenate(([0], self.ends[:-1] + 1))

    @cached_property
    def lengths(self) -> Counts:
        """Characters of each line."""
        return self.ends - self.starts

    @cached_property
    def _indices(self) -> npt.NDArray[np.intp]:
        """The codes in the type in which NumPy looks up tables three times as fast."""
        return self.codes.astype(np.intp)

    @cached_property
    def _kinds(self) -> npt.NDArray[np.uint8]:
        return kinds()[self._indices]

    @cached_property
    def spaces(self) -> Mask:
        """Which of the codes are white space, the line feeds included."""
        return self._is_kind(SPACE)

    @cached_property
    def digits(self) -> Mask:
        """Which of the codes are digits, of any script."""
        return self._is_kind(DIGIT)

    def _is_kind(self, kind: int) -> Mask:
        found: Mask = (self._kinds & kind) != 0
        return found

    @cached_property
    def blanks(self) -> Mask:
        """Which of the codes are the space itself."""
        return self.is_character(" ")

    @cached_property
    def word_starts(self) -> Mask:
        """Which of the codes begin a word, as `str.split` parts words."""
        before = np.concatenate(([True], self.spaces[:-1]))
        starts: Mask = before & ~self.spaces
        return starts

    @cached_property
    def words(self) -> Counts:
        """Words of each line."""
        return self.count(self.word_starts)

    def is_character(self, character: str) -> Mask:
        """Which of the codes are a character."""
        found: Mask = self.codes == ord(character)
        return found

    def is_in(self, table: Table) -> Mask:
        """Which of the codes are in a table."""
        found: Mask = table[self._indices]
        return found

    def count(self, marks: Mask) -> Counts:
        """How many of the marked codes each line has."""
        counts: Counts = np.add.reduceat(marks, self.starts, dtype=np.int32)
        return counts

    def sum(self, values: npt.NDArray[np.uint8]) -> Counts:
        """The sum over each line of what a table has for its code points."""
        sums: Counts = np.add.reduceat(values[self._indices], self.starts, dtype=np.int32)
        return sums

    def lines_with(self, marks: Mask) -> Mask:
        """The lines that have at least one of the marked codes."""
        found = np.zeros(len(self.lines), dtype=bool)
        found[np.searchsorted(self.ends, np.flatnonzero(marks))] = True
        return found

    @cached_property
    def untidy(self) -> Mask:
        """The lines that `" ".join(line.split())` would change."""
        odd = self.spaces & ~self.blanks & ~self.is_character("\n")
        doubled = np.zeros_like(self.blanks)
        doubled[1:] = self.blanks[1:] & self.blanks[:-1]
        return self.lines_with(odd | doubled) | self.padded

    @cached_property
    def padded(self) -> Mask:
        """The lines that `strip` would change."""
        padded: Mask = self.spaces[self.starts] | self.spaces[np.maximum(self.ends - 1, 0)]
        return padded & (self.lengths > 0)

    @cached_property
    def uncomposed(self) -> Mask:
        """The lines that may not be in Unicode's composed form (NFC); few others are among them."""
        return self.lines_with(self._is_kind(COMPOSED))


class Block:
    """Pairs, or lines alone, on their way through the filters.

    What is dropped stays in the columns, which cost more to make anew than to carry on. So does what is
    edited, until `take_edited` hands the new lines out.

    numbers  of the rows, by which the parts of a block are put in order again
    alive    the rows that no filter has dropped
    identified  for each side what the filter that tells languages found
    """

    def __init__(self, sides: Sequence[list[str]], numbers: Counts | None = None) -> None:
        self.columns = list(map(Column, sides))
        self.numbers: Counts = np.arange(len(sides[0])) if numbers is None else numbers
        self.alive: Mask = np.ones(len(sides[0]), dtype=bool)
        self.identified: list[Identified] = []
        self._edited: dict[int, list[str]] = {}

    @property
    def size(self) -> int:
        """Rows, with those that were dropped."""
        return len(self.alive)

    def drop(self, bad: Mask) -> None:
        """Drop rows; those that were dropped before stay so."""
        self.alive = self.alive & ~bad

    def drop_if(self, rows: Mask, is_bad: Callable[..., bool]) -> None:
        """Ask of each of the rows that are still there whether it is bad, and drop it if so."""
        sides = [column.lines for column in self.columns]
        concerned = np.flatnonzero(rows & self.alive).tolist()
        bad = np.zeros_like(self.alive)
        bad[[row for row in concerned if is_bad(*[lines[row] for lines in sides])]] = True
        self.drop(bad)

    def edit(self, side: int, rows: Mask, edit: Callable[[str], str]) -> None:
        """Edit lines of a side among the rows that are still there."""
        lines = self.columns[side].lines
        for row in np.flatnonzero(rows & self.alive).tolist():
            self.replace(row, side, edit(lines[row]))

    def edit_pairs(self, rows: Mask, edit: Callable[[str, str], tuple[str, str]]) -> None:
        """Edit both sides of pairs among the rows that are still there."""
        sources, targets = (column.lines for column in self.columns)
        for row in np.flatnonzero(rows & self.alive).tolist():
            for side, line in enumerate(edit(sources[row], targets[row])):
                self.replace(row, side, line)

    def replace(self, row: int, side: int, line: str) -> None:
        """Put another line into the place of one; filters see it from the next one on."""
        if line != self.columns[side].lines[row]:
            self._edited.setdefault(row, list(self.row(row)))[side] = line

    def row(self, number: int) -> tuple[str, ...]:
        """The sides of a row, as they came to the filter."""
        return tuple(column.lines[number] for column in self.columns)

    def take_edited(self) -> "Block":
        """The rows that have been edited, as they are now; they are no longer in this block."""
        rows = list(self._edited)
        sides = [[self._edited[row][side] for row in rows] for side in range(len(self.columns))]
        self.alive = self.alive.copy()
        self.alive[rows] = False
        self._edited = {}
        return Block(sides, self.numbers[rows])

    def kept(self) -> "Block":
        """The rows that are still there."""
        alive = self.alive.tolist()
        sides = [list(compress(column.lines, alive)) for column in self.columns]
        return Block(sides, self.numbers[self.alive])

    def in_order(self) -> list[list[str]]:
        """For each side its lines, in the order of their numbers."""
        order = np.argsort(self.numbers).tolist()
        return [[column.lines[row] for row in order] for column in self.columns]


# A filter drops rows of a block, or edits some.
Filter: TypeAlias = Callable[[Block], None]
