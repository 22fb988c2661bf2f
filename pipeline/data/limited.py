"""A text written line by line, of which no more than a number of lines is wanted, uniformly chosen.

Memory grows neither with the text nor with that number: lines that may be chosen are written to the disk, and
those that are chosen in the end are read from there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from itertools import compress
from pathlib import Path

import numpy as np

from pipeline.common.line_blocks import BlockWriter, kept_lines, line_ends, read_blocks
from pipeline.common.selection import Candidates, Places, Selection, places

LINES, CHARACTERS = 1 << 14, 1 << 20  # of which one is enough to be worked on at a time
PLACE_BYTES = 8
FEW = 10


@dataclass(frozen=True)
class Limited:
    """What became of a text: how many lines it had, how many were written, ten of those, uniformly chosen."""

    lines: int
    written: int
    few: list[str]


def write_limited(lines: Iterable[str], size: int, seed: str, file: Path, scratch: Path) -> Limited:
    """Write the lines to `file` or, of more than `size`, so many of them; in their order.

    None of them may hold a line feed. The scratch folder takes the candidates: of n lines about
    size * (1 + log(n / size)), compressed, and 8 bytes for each.
    """
    text, place_file = scratch / f"candidates-{file.name}", scratch / "candidates.places"
    total, few = _write_candidates(lines, size, seed, text, place_file)
    if total <= size:
        text.rename(file)
    else:
        _write_chosen(text, place_file, Selection(total, size, seed), file)
        text.unlink()
    place_file.unlink()
    return Limited(total, min(total, size), few)


def _write_candidates(
    lines: Iterable[str], size: int, seed: str, text: Path, place_file: Path
) -> tuple[int, list[str]]:
    """Write the lines that may be chosen, and their places; how many lines there are, and ten of them."""
    total, few, candidates, writer = 0, _Few(), Candidates(size), BlockWriter(text)
    with writer, place_file.open("wb") as file:
        for batch in _batches(lines):
            place = places(total, len(batch), seed)
            few.add(total, batch, place)
            total += len(batch)
            candidate = candidates.among(place)
            place[candidate].tofile(file)
            writer.write_block("".join([f"{line}\n" for line in compress(batch, candidate)]).encode())
    return total, few.lines()


def _batches(lines: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for line in lines:
        batch.append(line)
        characters += len(line)
        if len(batch) == LINES or characters > CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class _Few:
    """The lines with the lowest places, which are among the chosen ones however many are wanted."""

    def __init__(self) -> None:
        self._best: list[tuple[int, int, str]] = []  # place, number, line

    def add(self, first: int, batch: list[str], place: Places) -> None:
        lowest = np.argsort(place)[:FEW].tolist()
        new = [(int(place[n]), first + n, batch[n]) for n in lowest]
        self._best = nsmallest(FEW, [*self._best, *new])

    def lines(self) -> list[str]:
        """They, in the text's order."""
        return [line for _, line in sorted((number, line) for _, number, line in self._best)]


def _write_chosen(text: Path, place_file: Path, selection: Selection, output: Path) -> None:
    writer = BlockWriter(output)
    with writer, place_file.open("rb") as file:
        for block in read_blocks(text):
            ends = line_ends(block)
            place = np.frombuffer(file.read(PLACE_BYTES * len(ends)), dtype=np.uint64)
            writer.write_block(kept_lines(block, ends, selection.takes(place)))
