"""Rows of parallel files, drawn by random places and fetched by their numbers, a few in memory at a time."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.clean.keys import KeySet, keys_of, pair_keys
from pipeline.common.line_blocks import kept_lines, line_ends, read_blocks
from pipeline.common.parallel_blocks import read_parallel
from pipeline.common.selection import places

Numbers = npt.NDArray[np.int64]
Sides = tuple[str, ...]


@dataclass(frozen=True)
class Text:
    """Parallel files: a file for each side, and others of as many lines.

    name    of the data set; empty where it is not known
    beside  what stands beside the rows, such as scores → its file
    """

    name: str
    files: tuple[Path, ...]
    beside: Mapping[str, Path] = field(default_factory=dict)

    def blocks(self) -> Iterator[tuple[int, tuple[bytes, ...]]]:
        """Yield the number of a row, from 0, and all columns of some rows from that one on."""
        first = 0
        for block in read_parallel(*self.files, *self.beside.values()):
            yield first, block
            first += block[0].count(b"\n")


@dataclass
class Row:
    """A row, and what became of it.

    line     its number in its file, from 1
    result   what it became; None where it was dropped, or where that is not known
    reason   why it was dropped; empty where it was kept
    is_known whether it is known what became of it
    instead  the row that was kept in its place
    """

    dataset: str
    line: int
    text: Sides
    beside: dict[str, str] = field(default_factory=dict)
    result: Sides | None = None
    reason: str = ""
    is_known: bool = True
    instead: "Row | None" = None

    def to_json(self) -> dict[str, object]:
        """As sample.json holds it."""
        return {
            "dataset": self.dataset,
            "line": self.line,
            "text": list(self.text),
            **({} if self.result is None else {"result": list(self.result)}),
            "reason": self.reason,
            "is_known": self.is_known,
            "beside": self.beside,
            **({"instead": self.instead.to_json()} if self.instead else {}),
        }


class Lowest:
    """Of each of some groups of rows those with the lowest places: a uniform choice, whatever its size."""

    def __init__(self, size: int, seed: str) -> None:
        self._size, self._seed = size, seed
        self._found: dict[str, Numbers] = {}

    def add(self, group: str, numbers: Numbers) -> None:
        """Offer rows of a group by their numbers."""
        if len(numbers):
            offered = np.concatenate((self._found.get(group, np.empty(0, np.int64)), numbers))
            self._found[group] = offered[np.argsort(self._places(offered), kind="stable")[: self._size]]

    def groups(self) -> list[str]:
        """The groups that have rows."""
        return list(self._found)

    def numbers(self, group: str, size: int | None = None) -> list[int]:
        """The chosen rows of a group, in the order of their numbers; of them as many as asked for."""
        chosen: Numbers = self._found.get(group, np.empty(0, np.int64))[:size]
        return sorted(chosen.tolist())

    def all_numbers(self) -> set[int]:
        """The chosen rows of all groups."""
        return {number for group in self._found for number in self.numbers(group)}

    def _places(self, numbers: Numbers) -> npt.NDArray[np.uint64]:
        return np.concatenate([places(number, 1, self._seed) for number in numbers.tolist()])


def lowest_of(first: int, chosen: npt.NDArray[np.bool_], size: int, seed: str) -> Numbers:
    """The numbers of the chosen rows with the lowest places; `chosen` is about rows from `first` on."""
    rows = np.flatnonzero(chosen)
    if len(rows) > size:
        place = places(first, len(chosen), seed)[rows]
        rows = rows[np.argpartition(place, size)[:size]]
    return first + rows


def count_rows(path: Path) -> int:
    """The number of lines of a file."""
    return sum(block.count(b"\n") for block in read_blocks(path))


def fetch(texts: Sequence[Text], starts: Sequence[int], numbers: Iterable[int]) -> dict[int, Row]:
    """Read the rows with some numbers, which count through all texts."""
    wanted = np.unique(np.fromiter(numbers, dtype=np.int64))
    found: dict[int, Row] = {}
    for text, start, end in zip(texts, starts, starts[1:], strict=False):
        inside = wanted[(wanted >= start) & (wanted < end)] - start
        if len(inside):
            found |= {start + line: row for line, row in _rows_of(text, inside)}
    return found


def _rows_of(text: Text, wanted: Numbers) -> Iterator[tuple[int, Row]]:
    for first, block in text.blocks():
        count = block[0].count(b"\n")
        chosen = np.zeros(count, dtype=bool)
        inside = wanted[(wanted >= first) & (wanted < first + count)]
        chosen[inside - first] = True
        if len(inside):
            yield from zip(inside.tolist(), rows_in(text, first, block, chosen), strict=True)
        if first + count > wanted[-1]:
            return


def rows_in(text: Text, first: int, block: Sequence[bytes], chosen: npt.NDArray[np.bool_]) -> Iterator[Row]:
    """Yield the chosen rows of a block, whose first row has a number in the text."""
    columns = [_lines(column, chosen) for column in block]
    sides = len(text.files)
    for line, *values in zip(np.flatnonzero(chosen).tolist(), *columns, strict=True):
        beside = dict(zip(text.beside, values[sides:], strict=True))
        yield Row(text.name, first + line + 1, tuple(values[:sides]), beside)


def _lines(column: bytes, chosen: npt.NDArray[np.bool_]) -> list[str]:
    kept = kept_lines(column, line_ends(column), chosen)
    return kept.decode("utf-8", "replace").split("\n")[:-1]


def found_in(files: Sequence[Path], rows: Collection[Sides]) -> set[Sides]:
    """Those of some rows that stand in parallel files, as they are."""
    wanted = {bytes(_keys([row])[0].data): row for row in rows}
    if not wanted:
        return set()
    known, found = KeySet(_keys(list(rows))), set[Sides]()
    for block in read_parallel(*files):
        keys = _joined([keys_of(column.split(b"\n")[:-1]) for column in block])
        found |= {wanted[bytes(keys[number].data)] for number in np.flatnonzero(known.holds(keys)).tolist()}
    return found


def _keys(rows: Sequence[Sides]) -> npt.NDArray[np.uint64]:
    return _joined([keys_of([row[side].encode() for row in rows]) for side in range(len(rows[0]))])


def _joined(sides: Sequence[npt.NDArray[np.uint64]]) -> npt.NDArray[np.uint64]:
    return sides[0] if len(sides) == 1 else pair_keys(sides[0], sides[1])
