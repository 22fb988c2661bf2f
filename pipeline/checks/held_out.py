"""Finds pairs and lines that stand in a dev or test set, or lines that are nearly the same as one of its.

Which pairs and lines of these sets are held out, pipeline.clean.held_out says, for merging as well.

A line that is held out is cut into parts of equal length. A line of text that has some of them is compared
with it as a whole; a line that has none differs all over. Memory grows with the held-out lines alone.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.checks.letters import BLOCK_LINES, Hashes, Letters, Positions, pair_hashes
from pipeline.clean.held_out import held_out_lines, held_out_pairs
from pipeline.common.text import normal_form

SIMILAR = 0.8  # of all three-letter sequences of both lines, so many are in both (Jaccard)
SHORTEST_PART = 6
SHORTEST_LINE = 25  # letters: "He is young" and "She is young" are two sentences
IDEOGRAPHS = 0x2E80  # from here on a letter counts as three: Han, Kana, Hangul
PARTS = 5  # of a held-out line of median length
SHARED_PARTS = 3  # a line is compared when it has a third of the parts: letters change in few places
OWNERS = 16  # held-out lines that a part is looked for in; of a phrase that stands in more, the first
COMPARED = 8  # held-out lines that one line is compared with
TABLE_BITS = 21
SAMPLES = 5
SAMPLE_CHARACTERS = 300


class HeldOut:
    """The held-out lines of a language, made ready for the search."""

    def __init__(self, paths: Sequence[Path], lang: str) -> None:
        self.lines = sorted(held_out_lines(paths, lang))
        self.numbers = {line: number for number, line in enumerate(self.lines)}
        blocks = [Letters(self.lines[i : i + BLOCK_LINES]) for i in range(0, len(self.lines), BLOCK_LINES)]
        lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(block.lengths for block in blocks)])
        median = int(np.median(lengths)) if len(lengths) else 0
        self.part_size = max(SHORTEST_PART, median // PARTS)
        self._lengths = lengths
        self._letters = [block.of_line(line) for block in blocks for line in range(len(block.lengths))]
        self.is_long = np.array([_weight(letters) >= SHORTEST_LINE for letters in self._letters], dtype=bool)
        self._lines = _Index()
        self._parts = _Index()
        for number, block in enumerate(blocks):
            self._add(block, number * BLOCK_LINES)
        self._lines.finish()
        self._parts.finish()

    def _add(self, block: Letters, first: int) -> None:
        owners = np.arange(len(block.lengths)) + first
        self._lines.add(block.line_hashes, owners)
        size = self.part_size
        starts = [
            np.arange(start, end - size + 1, size)
            for start, end in zip(block.bounds[:-1], block.bounds[1:], strict=True)
        ]
        self._parts.add(
            block.part_hashes(size)[np.concatenate(starts)] if len(block.codes) >= size else _NONE,
            np.repeat(owners, [len(some) for some in starts]),
        )

    @cached_property
    def _trigrams(self) -> dict[int, frozenset[str]]:
        return {}

    def trigrams(self, owner: int) -> frozenset[str]:
        """The three-letter sequences of a held-out line."""
        if owner not in self._trigrams:
            self._trigrams[owner] = trigrams(self._letters[owner])
        return self._trigrams[owner]

    def same_letters(self, letters: Letters) -> Iterator[tuple[int, int]]:
        """(line, held-out line) for lines of a block that have the same letters, or none, as one has."""
        lines, owners = self._lines.find(letters.line_hashes)
        yield from zip(lines.tolist(), owners.tolist(), strict=True)

    def alike(self, letters: Letters) -> Iterator[tuple[int, int]]:
        """(line, held-out line) for lines of a block that are worth comparing, the likeliest first."""
        positions, owners = self._parts.find(letters.part_hashes(self.part_size))
        lines = letters.lines_at(positions)
        pairs, shared = np.unique(lines * (len(self.lines) + 1) + owners, return_counts=True)
        lines, owners = pairs // (len(self.lines) + 1), pairs % (len(self.lines) + 1)
        ours, theirs = letters.lengths[lines], self._lengths[owners]
        worth = self.is_long[owners] & (np.minimum(ours, theirs) >= SIMILAR * np.maximum(ours, theirs))
        worth &= SHARED_PARTS * shared >= theirs // self.part_size
        lines, owners, shared = lines[worth], owners[worth], shared[worth]
        compared: Counter[int] = Counter()
        for place in np.lexsort((owners, -shared, lines)).tolist():
            line = int(lines[place])
            compared[line] += 1
            if compared[line] <= COMPARED:
                yield line, int(owners[place])


_NONE: Hashes = np.zeros(0, dtype=np.uint64)


class _Index:
    """Hash → owners, at most OWNERS each; looked up for many hashes at once."""

    def __init__(self) -> None:
        self._added: list[tuple[Hashes, Positions]] = []

    def add(self, hashes: Hashes, owners: Positions) -> None:
        self._added.append((hashes, owners))

    def finish(self) -> None:
        hashes = np.concatenate([_NONE, *(hashes for hashes, _ in self._added)])
        owners = np.concatenate([np.zeros(0, dtype=np.int64), *(owners for _, owners in self._added)])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._owners = hashes[order], owners[order]
        self._keys, self._firsts, counts = np.unique(self._hashes, return_index=True, return_counts=True)
        self._counts = np.minimum(counts, OWNERS)
        self._table = np.zeros(1 << TABLE_BITS, dtype=np.bool_)
        self._table[self._slots(self._keys)] = True

    @staticmethod
    def _slots(hashes: Hashes) -> Positions:
        return (hashes >> np.uint64(64 - TABLE_BITS)).view(np.int64)

    def find(self, hashes: Hashes) -> tuple[Positions, Positions]:
        """(position in `hashes`, owner) of every hash that is there."""
        positions = np.flatnonzero(self._table[self._slots(hashes)])
        if not len(positions) or not len(self._keys):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._keys, hashes[positions]), len(self._keys) - 1)
        found = self._keys[places] == hashes[positions]
        positions, places = positions[found], places[found]
        counts = self._counts[places]
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(positions, counts), self._owners[np.repeat(self._firsts[places], counts) + offsets]


def _weight(letters: str) -> int:
    return sum(3 if ord(letter) >= IDEOGRAPHS else 1 for letter in letters)


def trigrams(letters: str) -> frozenset[str]:
    """All sequences of three letters."""
    return frozenset(letters[place : place + 3] for place in range(len(letters) - 2))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the elements of two sets that are in both."""
    both = len(one & other)
    return both / max(1, len(one) + len(other) - both)


class Overlap:
    """Counts the lines of one side of a corpus that are held out, or nearly so.

    exact         the line itself, in NFC with white space collapsed
    same_letters  the letters agree; case, punctuation, digits or white space do not
    similar       at least SIMILAR of the three-letter sequences agree

    The last two ask for SHORTEST_LINE letters.
    """

    def __init__(self, held_out: HeldOut) -> None:
        self._held_out = held_out
        self._counts: Counter[str] = Counter()
        self._hit: set[int] = set()
        self._samples: dict[str, list[dict[str, Any]]] = {}

    def add(self, lines: Sequence[str], letters: Letters) -> None:
        """Look for held-out lines in a block."""
        found: dict[int, tuple[str, int, float]] = {}
        for line, owner in self._held_out.same_letters(letters):
            exact = self._held_out.numbers.get(normal_form(lines[line]))
            if exact is not None:
                found[line] = ("exact", exact, 1.0)
            elif self._held_out.is_long[owner]:
                found.setdefault(line, ("same_letters", owner, 1.0))
        for line, owner in self._held_out.alike(letters):
            if line not in found:
                score = jaccard(trigrams(letters.of_line(line)), self._held_out.trigrams(owner))
                if score >= SIMILAR:
                    found[line] = ("similar", owner, score)
        for line, (kind, owner, score) in sorted(found.items()):
            self._note(kind, lines[line], owner, score)

    def _note(self, kind: str, line: str, owner: int, score: float) -> None:
        self._counts[kind] += 1
        self._hit.add(owner)
        samples = self._samples.setdefault(kind, [])
        if len(samples) < SAMPLES:
            held_out = self._held_out.lines[owner][:SAMPLE_CHARACTERS]
            samples.append(
                {"line": line[:SAMPLE_CHARACTERS], "held_out": held_out, "similarity": round(score, 3)}
            )

    def to_json(self) -> dict[str, Any]:
        """Numbers of lines, and of the held-out lines that they are like."""
        return {
            "held_out_lines": len(self._held_out.lines),
            "held_out_lines_found": len(self._hit),
            **{kind: self._counts[kind] for kind in ("exact", "same_letters", "similar")},
            "samples": self._samples,
        }


class WholePairs:
    """Counts the pairs of a corpus that are held out as a whole."""

    def __init__(self, files: Sequence[Sequence[Path]]) -> None:
        self._pairs = held_out_pairs(files)
        sides = [Letters(side).line_hashes for side in zip(*sorted(self._pairs), strict=True)]
        self._hashes = np.unique(pair_hashes(*sides)) if sides else _NONE
        self._found = 0
        self._samples: list[tuple[str, ...]] = []

    def add(self, block: Sequence[Sequence[str]], letters: Sequence[Letters]) -> None:
        """Look for held-out pairs in a block; only those with the letters of one are compared."""
        hashes = pair_hashes(*(side.line_hashes for side in letters))
        for line in np.flatnonzero(np.isin(hashes, self._hashes)).tolist():
            pair = tuple(normal_form(side[line]) for side in block)
            if pair in self._pairs:
                self._found += 1
                if len(self._samples) < SAMPLES:
                    self._samples.append(tuple(side[:SAMPLE_CHARACTERS] for side in pair))

    def to_json(self) -> dict[str, Any]:
        """The numbers of pairs, and a few of them."""
        return {"held_out_pairs": len(self._pairs), "exact": self._found, "samples": self._samples}
