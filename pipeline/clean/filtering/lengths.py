"""Filters that count: words, characters, letters of the language's alphabet."""

import logging
import math
import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pipeline.clean.filtering.block import (
    Block,
    Column,
    Counts,
    Filter,
    Mask,
    Table,
    every_character,
    table_of,
)
from pipeline.clean.filtering.filter_file import FilterStep

logger = logging.getLogger(__name__)


def max_length(step: FilterStep) -> Filter:
    """Drop pairs of which a side has more than MAXLENGTH words, or fewer than MINLENGTH."""
    longest, shortest = step.number_of("MAXLENGTH", 150), step.number_of("MINLENGTH", 1)

    def work(block: Block) -> None:
        for column in block.columns:
            block.drop((column.words > longest) | (column.words < shortest))

    return work


def max_word_length(step: FilterStep) -> Filter:
    """Drop pairs in which more than MAXWORDLENGTH characters stand between two spaces."""
    longest = step.number_of("MAXWORDLENGTH", 150)

    def work(block: Block) -> None:
        for column in block.columns:
            block.drop(with_long_word(column, longest))

    return work


def with_long_word(column: Column, longest: float) -> Mask:
    """The lines in which more than `longest` characters stand between two spaces."""
    ends = np.flatnonzero(column.blanks | column.is_character("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    too_long = np.zeros(len(column.codes), dtype=bool)
    too_long[ends[lengths > longest]] = True
    return column.lines_with(too_long)


def src_trg_ratio(step: FilterStep) -> Filter:
    """Drop pairs with less than RATIO as many words on one side as on the other; of logarithms with LOG."""
    least = step.number_of("RATIO", 0.6)
    ratio_of = _log_ratio if step.flag("LOG", False) else _ratio

    def work(block: Block) -> None:
        source, target = (column.words for column in block.columns)
        # OpusCleaner ends with an error where a side has no words.
        wordless = (source == 0) | (target == 0)
        ratio = ratio_of(np.maximum(source, 1), np.maximum(target, 1))
        block.drop(wordless | (ratio < least) | (ratio > 1.0 / least))

    return work


def _ratio(source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    return source / target


def _log_ratio(source: npt.NDArray[np.int64], target: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """At most 1. By `math.log10`, whose last digit may differ from NumPy's."""
    short, long = np.minimum(source, target), np.maximum(source, target)
    logarithms = np.array([0.0, *(math.log10(words + 1) for words in range(1, int(long.max()) + 1))])
    ratio: npt.NDArray[np.float64] = logarithms[short] / logarithms[long]
    return ratio


def alpha_ratio(step: FilterStep, alphabets: Mapping[str, str]) -> Filter:
    """Drop pairs of which a side has too few letters, or words that begin with a letter, of its language.

    alphabets  a language's letters, as the inside of a regular expression's class
    """
    sides = []
    for number, side in enumerate(("SRC", "TRG")):
        language = step.text(f"LANG{number + 1}", "")
        least_words = step.number_of(f"{side}WORDRAT", 0.4)
        least_letters = step.number_of(f"{side}ALPHARAT", 0.5)
        if language in alphabets:
            sides.append((number, letter_table(alphabets[language]), least_words, least_letters))
        else:
            logger.warning("%s: the alphabet of %r is not known, so that side is not asked", step, language)
    step.flag("DEBUG", False)

    def work(block: Block) -> None:
        for number, letters, least_words, least_letters in sides:
            block.drop(_has_few_letters(block, number, letters, least_words, least_letters))

    return work


def letter_table(alphabet: str) -> Table:
    """The letters of an alphabet, small and capital, which is the inside of a regular expression's class."""
    return table_of(re.findall(f"[{alphabet}]", every_character(), re.IGNORECASE))


def _has_few_letters(
    block: Block, side: int, letters: Table, least_words: float, least_letters: float
) -> Mask:
    counts = count_letters(block, side, letters)
    few: Mask = counts.words == 0
    few |= counts.starts / np.maximum(counts.words, 1) < least_words
    few |= counts.letters / np.maximum(counts.characters, 1) < least_letters
    return few


class LetterCounts(NamedTuple):
    """What each line of a side has.

    words       as white space parts them
    starts      words that begin with a letter
    characters  that are not spaces
    letters     characters that are letters
    """

    words: Counts
    starts: Counts
    characters: Counts
    letters: Counts


def count_letters(block: Block, side: int, letters: Table) -> LetterCounts:
    """Counted in the lines without white space at their ends, letters composed with their accents (NFC)."""
    column = block.columns[side]
    counts = _count(column, letters)
    rows = np.flatnonzero((column.uncomposed | column.padded) & block.alive)
    if len(rows):
        lines = [unicodedata.normalize("NFC", column.lines[row].strip()) for row in rows.tolist()]
        for all_lines, composed in zip(counts, _count(Column(lines), letters), strict=True):
            all_lines[rows] = composed
    return counts


def _count(text: Column, letters: Table) -> LetterCounts:
    is_letter = text.is_in(letters)
    return LetterCounts(
        words=text.words.copy(),
        starts=text.count(is_letter & text.word_starts),
        characters=text.lengths - text.count(text.blanks),
        letters=text.count(is_letter),
    )
