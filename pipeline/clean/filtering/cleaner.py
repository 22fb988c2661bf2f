"""The cleaner of pairs: the filters of a file, one after the other."""

from collections.abc import Sequence

import numpy as np

from pipeline.clean.agreement import agreement
from pipeline.clean.cleaning import Cleaned
from pipeline.clean.filtering.block import Block, Filter
from pipeline.clean.filtering.opuscleaner import OpusCleaner
from pipeline.clean.filtering.registry import AnyFilter
from pipeline.clean.tally import Tally

MAX_CHARACTERS = (
    25_000  # 150 words of 150 characters, with markup; no filter has to search a line of a megabyte
)
SMALL = 200  # rows, for which a block of their own is not worth its while
# What parts columns, or lines, to some of OpusCleaner's programs, and so cannot stand in a line.
_SEPARATORS = str.maketrans("\t\r\x00", "   ")


class FilterCleaner:
    """Cleans blocks of pairs; `filters` have names, under which the stats count what they drop."""

    def __init__(self, filters: Sequence[tuple[str, AnyFilter]]) -> None:
        self._filters = filters

    def __call__(self, sides: Sequence[list[str]]) -> Cleaned:
        """Clean one block; what becomes of a pair depends on that pair alone."""
        tally = Tally(agreement=agreement(*sides) if len(sides) > 1 else None)
        block = Block([list(map(plain, lines)) for lines in _without_long(sides, tally)])
        parts = [block]
        for name, work in self._filters:
            if isinstance(work, OpusCleaner):
                parts = [_apply_whole(name, work, _joined(parts), tally)]
                continue
            for part in parts:
                _apply(name, work, part, tally)
            _part_edited(parts)
        lines = _joined(parts).in_order()
        tally.kept = len(lines[0])
        tally.notes.update(_identical(*lines) if len(lines) > 1 else {})
        return Cleaned(lines, tally)


def _identical(sources: Sequence[str], targets: Sequence[str]) -> dict[str, int]:
    """How many pairs have the same text on both sides, and how many of these have three words or more."""
    same = [source for source, target in zip(sources, targets, strict=True) if source == target]
    return {"identical": len(same), "identical, three words": sum(len(text.split()) > 2 for text in same)}


def _part_edited(parts: list[Block]) -> None:
    """Let rows that were edited go on in a block of their own, so that a large one is not made anew for them.

    Blocks that are not much larger than it are joined with it, so that there are few.
    """
    edited = _joined([part.take_edited() for part in parts])
    while len(parts) > 1 and parts[-1].size < max(SMALL, 2 * edited.size):
        edited = _joined([parts.pop(), edited])
    if edited.size:
        parts.append(edited)


def _joined(parts: Sequence[Block]) -> Block:
    """The rows that are still there in any of the blocks."""
    kept = [part.kept() for part in parts]
    sides = [
        [line for part in kept for line in part.columns[side].lines] for side in range(len(kept[0].columns))
    ]
    return Block(sides, np.concatenate([part.numbers for part in kept]))


def _apply(name: str, work: Filter, block: Block, tally: Tally) -> None:
    if not block.size:
        return
    before = block.alive
    work(block)
    tally.identify(block.identified)
    block.identified = []
    for row in (before & ~block.alive).nonzero()[0].tolist():
        tally.drop(name, block.row(row))


def _apply_whole(name: str, work: OpusCleaner, block: Block, tally: Tally) -> Block:
    left = Block(work(block.in_order()))
    for _ in range(block.size - left.size):
        tally.drop(name)
    return left


def _without_long(sides: Sequence[list[str]], tally: Tally) -> Sequence[list[str]]:
    if max(max(map(len, lines), default=0) for lines in sides) <= MAX_CHARACTERS:
        return sides
    good = []
    for row in zip(*sides, strict=True):
        if max(map(len, row)) <= MAX_CHARACTERS:
            good.append(row)
        else:
            tally.drop("too_long", row)
    return [[row[side] for row in good] for side in range(len(sides))]


def plain(line: str) -> str:
    """The line with spaces for tabs, carriage returns and NUL."""
    return line if line.isprintable() else line.translate(_SEPARATORS)
