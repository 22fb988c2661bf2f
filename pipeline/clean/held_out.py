"""What training text must not have of the dev and test sets: whole pairs, and lines of some length.

A pair is held out however short it is. A line by itself is from five words on: what is shorter ("Cancel",
"Yes.") stands in all kinds of text, and learning it gives no test sentence away.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from icu4py.breakers import WordBreaker

from pipeline.clean.keys import Keys, KeySet, keys_of, pair_keys, words_only
from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, zip_lines
from pipeline.common.text import normal_form

MIN_WORDS = 5


def count_words(text: str, lang: str) -> int:
    """Words and numbers between ICU's word breaks, which know the words of languages without spaces."""
    return sum(any(map(str.isalnum, segment)) for segment in WordBreaker(text, lang))


def held_out_lines(paths: Sequence[Path], lang: str) -> frozenset[str]:
    """The normal forms of the lines of at least MIN_WORDS words; held in memory."""
    lines = {normal_form(line) for path in paths for line in read_lines(path)}
    return frozenset(line for line in lines if count_words(line, lang) >= MIN_WORDS)


def held_out_pairs(files: Sequence[Sequence[Path]]) -> frozenset[tuple[str, ...]]:
    """The normal forms of the pairs without an empty side, given the files of each side; held in memory.

    Raises InputError for sides that differ in length, or in the number of files.
    """
    if len(set(map(len, files))) > 1:
        counts = " and ".join(str(len(paths)) for paths in files)
        raise InputError(
            f"Held-out sets have {counts} files on their sides. Give each with both, in the same order."
        )
    pairs = (tuple(map(normal_form, row)) for paths in zip(*files, strict=True) for row in zip_lines(*paths))
    return frozenset(pair for pair in pairs if all(pair))


@dataclass(frozen=True)
class HeldOut:
    """The dev and test sets of a merge.

    langs        of each side
    files        of each side
    whole_pairs  whether pairs count; not those with a model's translation, which is its own, not the set's
    """

    langs: Sequence[str]
    files: Sequence[Sequence[Path]]
    whole_pairs: bool = False

    def keys(self, *, near: bool = False) -> "HeldOutKeys":
        """Their keys; `near` gives near-duplicates the same."""
        lines = [held_out_lines(paths, lang) for lang, paths in zip(self.langs, self.files, strict=True)]
        pairs = sorted(held_out_pairs(self.files)) if self.whole_pairs else []
        sides = [_keys([pair[side] for pair in pairs], near) for side in range(len(self.files))]
        return HeldOutKeys(
            [KeySet(_keys(side, near)) for side in lines], KeySet(pair_keys(*sides)) if pairs else None
        )


def _keys(lines: Iterable[str], near: bool) -> Keys:
    encoded = [line.encode() for line in lines]
    return keys_of(words_only(encoded) if near else encoded)


@dataclass(frozen=True)
class HeldOutKeys:
    """The keys of held-out lines of each side and, where they count, of pairs."""

    sides: Sequence[KeySet]
    pairs: KeySet | None

    def has_line(self, side: int, keys: Keys) -> npt.NDArray[np.bool_]:
        """For each row whether its line on this side is held out."""
        return self.sides[side].holds(keys)

    def has_pair(self, sides: Sequence[Keys]) -> npt.NDArray[np.bool_]:
        """For each row whether it is held out as a whole."""
        if self.pairs is None:
            return np.zeros(len(sides[0]), dtype=bool)
        return self.pairs.holds(pair_keys(*sides))
