"""Filters that count: words, characters, letters of the language's alphabet."""

import logging
import math
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import regex

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
from pipeline.clean.filtering.strings import SOUTH_LETTERS
from pipeline.common.errors import InputError

logger = logging.getLogger(__name__)

LONGEST_WORDS = 10  # letters on an average; text with longer ones has no spaces between words, or few
# First and last code point, and the letters of an alphabet that one of these stands for.
WIDE_LETTERS = (
    (0x3041, 0x30FF, 2),  # Hiragana, Katakana
    (0x3400, 0x4DBF, 3),  # Han
    (0x4E00, 0x9FFF, 3),
    (0xF900, 0xFAFF, 3),
    (0x20000, 0x3FFFF, 3),
    (0xAC00, 0xD7A3, 2),  # Hangul
)


def max_length(step: FilterStep) -> Filter:
    """Drop pairs of which a side has more than MAXLENGTH words, or fewer than MINLENGTH."""
    longest, shortest = step.number_of("MAXLENGTH", 150), step.number_of("MINLENGTH", 1)

    def work(block: Block) -> None:
        for column in block.columns:
            block.drop((column.words > longest) | (column.words < shortest))

    return work


def max_word_length(step: FilterStep) -> Filter:
    """Drop pairs in which more than MAXWORDLENGTH characters stand between two spaces.

    Letters of scripts without spaces between words do not count, because a sentence of them may be as long;
    they do in OpusCleaner.
    """
    longest = step.number_of("MAXWORDLENGTH", 150)

    def work(block: Block) -> None:
        for column in block.columns:
            block.drop(with_long_word(column, longest))

    return work


def with_long_word(column: Column, longest: float) -> Mask:
    """The lines in which more than `longest` characters that count stand between two spaces."""
    ends = np.flatnonzero(column.blanks | column.is_character("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    too_long = np.zeros(len(column.codes), dtype=bool)
    if (lengths > longest).any():
        counted = np.cumsum(~(column.is_in(_unspaced_letters()) | column.blanks | column.is_character("\n")))
        too_long[ends[np.diff(counted[ends], prepend=0) > longest]] = True
    return column.lines_with(too_long)


@cache
def _unspaced_letters() -> Table:
    """Those of Thai and its kind; Chinese, Japanese and Korean have filter files without this filter."""
    return table_of(regex.findall(rf"[{SOUTH_LETTERS}\p{{Tibetan}}]", every_character()))


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


def length_ratio(step: FilterStep, words_of_english: Mapping[str, float]) -> Filter:
    """Drop pairs of which one side has less than RATIO as many letters as the other, ALLOWANCE added to both.

    So the ratio counts from some length on: with 0.6 and 20 a line of 10 letters may have 30 in the other
    language, one of 100 may have 180. With the UNIT `word` words are compared, where white space parts them;
    punctuation by itself is none. Those of the shorter side count as many as they would be in the other
    language, by `words_of_english` for LANG1 and LANG2: six words of Turkish are eight of English.
    OpusCleaner's src_trg_ratio compares words without an allowance, so that "Workspace" is not "Espace de
    travail", and nothing is a translation into Thai.
    """
    unit, least, allowance = (
        step.text("UNIT", "letter"),
        step.number_of("RATIO", 0.6),
        step.number_of("ALLOWANCE", 20),
    )
    if unit not in ("letter", "word"):
        raise InputError(f"{step}: UNIT is {unit!r}; write letter or word.")
    rates = [words_of_english.get(step.text(name, ""), 1.0) for name in ("LANG1", "LANG2")]
    ratio = rates[1] / rates[0] if unit == "word" else 1.0

    def work(block: Block) -> None:
        letters = [column.sum(letter_weights()) for column in block.columns]
        words = [count_words(column) for column in block.columns]
        source, target = letters if unit == "letter" else words
        bad: Mask = source * ratio + allowance < least * (target + allowance)
        bad |= target / ratio + allowance < least * (source + allowance)
        if unit == "word":
            for number in (0, 1):
                bad &= letters[number] <= LONGEST_WORDS * words[number]
        block.drop(bad)

    return work


def count_words(column: Column) -> Counts:
    """The words of each line that have a letter or digit."""
    starts = np.flatnonzero(column.word_starts)
    letters = np.concatenate(([0], np.cumsum(column.is_in(letter_weights() > 0))))
    words = np.zeros_like(column.word_starts)
    words[starts] = np.diff(letters[np.append(starts, len(column.codes))]) > 0
    return column.count(words)


@cache
def letter_weights() -> npt.NDArray[np.uint8]:
    """For each code point how many letters of an alphabet it stands for: 1 for a letter, a mark, a digit.

    An ideograph is 3, a syllable of Japanese or Korean 2, which makes translations as long as their sources.
    """
    weights = table_of(regex.findall(r"[\p{L}\p{M}\p{N}]", every_character())).astype(np.uint8)
    for first, last, weight in WIDE_LETTERS:
        weights[first : last + 1] *= weight
    return weights


def alpha_ratio(step: FilterStep, alphabets: Mapping[str, str]) -> Filter:
    """Drop pairs of which a side has too few letters, or words that begin with a letter, of its language.

    alphabets  a language's letters, as the inside of a regular expression's class
    """
    sides = letter_sides(step, alphabets)

    def work(block: Block) -> None:
        for side in sides:
            block.drop(has_few_letters(block, side))

    return work


class LetterSide(NamedTuple):
    """What is asked of a side: the least shares of words that begin with a letter, and of letters."""

    number: int
    lang: str
    letters: Table
    least_words: float
    least_letters: float


def letter_sides(step: FilterStep, alphabets: Mapping[str, str]) -> list[LetterSide]:
    """What a filter's parameters ask of the sides whose alphabets are known; warns of the others."""
    sides = []
    for number, side in enumerate(("SRC", "TRG")):
        lang = step.text(f"LANG{number + 1}", "")
        least_words = step.number_of(f"{side}WORDRAT", 0.4)
        least_letters = step.number_of(f"{side}ALPHARAT", 0.5)
        if lang in alphabets:
            letters = letter_table(alphabets[lang])
            sides.append(LetterSide(number, lang, letters, least_words, least_letters))
        else:
            logger.warning("%s: the alphabet of %r is not known, so that side is not asked", step, lang)
    step.flag("DEBUG", False)
    return sides


def letter_table(alphabet: str) -> Table:
    """The letters of an alphabet, small and capital, which is the inside of a regular expression's class."""
    return table_of(re.findall(f"[{alphabet}]", every_character(), re.IGNORECASE))


def has_few_letters(block: Block, side: LetterSide) -> Mask:
    """The lines that have less than is asked of their side."""
    counts = count_letters(block, side.number, side.letters)
    few: Mask = counts.words == 0
    few |= counts.starts / np.maximum(counts.words, 1) < side.least_words
    few |= counts.letters / np.maximum(counts.characters, 1) < side.least_letters
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
