"""The filter that asks for letters of the languages, and passes over what is of no language.

It drops a part of what OpusCleaner's alpha_ratio drops. To that one " :", "«" and "_Quit" are words that do
not begin with a letter, and names in Latin letters are foreign ones.
"""

import unicodedata
from collections.abc import Mapping
from functools import partial

import regex

from pipeline.clean.filtering.block import Block, Filter
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.filtering.lengths import LetterSide, has_few_letters, letter_sides
from pipeline.clean.filtering.strings import without_code

OWN_SHARE = 0.2  # of a line's letters, so many are of its language, whatever stands on the other side


def alphabet_ratio(step: FilterStep, alphabets: Mapping[str, str]) -> Filter:
    """Drop pairs of which a side has too few letters, or words that begin with a letter, of its language.

    Markup, placeholders, accelerators and punctuation do not count, nor do numbers, and words of other
    letters, that stand on the other side, too, unless both sides are the same text. A fifth of the letters
    must be of the language in any case. The parameters are alpha_ratio's.
    """
    sides = letter_sides(step, alphabets)
    runs = [_runs(alphabets[side.lang]) for side in sides]

    def work(block: Block) -> None:
        for side, of_kinds in zip(sides, runs, strict=True):
            block.drop_if(has_few_letters(block, side), partial(_has_few, side, of_kinds))

    return work


def _runs(alphabet: str) -> "regex.Pattern[str]":
    """Runs of the language's letters (group 1), of others (2), of digits, of signs but punctuation."""
    own = f"[{alphabet}]"
    return regex.compile(
        rf"({own}+)|((?:(?!{own})[\p{{L}}\p{{M}}])+)|\p{{N}}+|[^\p{{L}}\p{{M}}\p{{N}}\p{{P}}\s]+",
        regex.IGNORECASE,
    )


def _has_few(side: LetterSide, runs: "regex.Pattern[str]", *pair: str) -> bool:
    """The same question, of what says something of the language."""
    text, other = pair[side.number], pair[1 - side.number]
    there = {run[0] for run in runs.finditer(_plain(other))} if other != text else set()
    own = foreign = characters = words = starts = 0
    for word in _plain(text).split():
        found = list(runs.finditer(word))
        counted = [run for run in found if run[1] or run[0] not in there]
        if spelled := [run for run in counted if run[0][0].isalnum()]:
            words += 1
            starts += bool(spelled[0][1]) and _opens(word, spelled[0].start())
        own += sum(len(run[0]) for run in counted if run[1])
        foreign += sum(len(run[0]) for run in found if run[2])
        characters += sum(len(run[0]) for run in counted)
    return (
        own <= OWN_SHARE * foreign / (1 - OWN_SHARE)
        or starts < side.least_words * words
        or own < side.least_letters * characters
    )


def _opens(word: str, place: int) -> bool:
    """Whether a word begins there, but for punctuation; "?plural:" before one is a note for translators."""
    return not word[:place].startswith(("?", "!"))


def _plain(text: str) -> str:
    return without_code(unicodedata.normalize("NFC", text))
