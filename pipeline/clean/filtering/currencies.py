"""The filter that compares amounts of money: currencies beside numbers, as symbols (€) or codes (EUR)."""

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import regex

from pipeline.clean.filtering.block import Block, Column, Filter, Mask, table_of
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.filtering.strings import without_numbering


class Currencies:
    """What the currencies of a text are; `names` has for each symbol or code the codes it may stand for."""

    def __init__(self, names: Mapping[str, list[str]]) -> None:
        self._codes = {name: frozenset(codes) for name, codes in names.items()}
        number = r"\d[\d.,]*"
        # The lookaheads spare the search the places where no amount can begin.
        self._amount = re.compile(
            rf"(?<![A-Za-z])(?:(?=[{_class(_firsts(names))}])({_any_of(names)})\s*{number}"
            rf"|(?=\d){number}\s*({_any_of(names)}))(?![A-Za-z]|:[A-Za-z])"
        )
        dense = ["".join(name.split()) for name in names]
        self._alone = table_of(name for name in dense if len(name) == 1)
        longer = [name for name in dense if len(name) > 1]
        self._first_two = [table_of(name[place] for name in longer) for place in (0, 1)]
        self._last_two = [table_of(name[place] for name in longer) for place in (-2, -1)]

    def lines_with(self, column: Column) -> Mask:
        """The lines in which an amount may be: beside a number stands what begins or ends a currency."""
        dense = np.flatnonzero(~column.spaces | column.is_character("\n"))
        digits, points = column.digits, column.is_character(".") | column.is_character(",")
        digits, points = digits[dense], points[dense]
        number_ends = digits.copy()
        number_ends[1:] |= points[1:] & (digits | points)[:-1]
        begins, ends, alone = (
            column.is_in(table)[dense] for table in (self._first_two[0], self._last_two[1], self._alone)
        )
        begins[:-1] &= column.is_in(self._first_two[1])[dense][1:]
        ends[1:] &= column.is_in(self._last_two[0])[dense][:-1]
        found = np.zeros_like(digits)
        found[1:] = ((ends | alone)[:-1] & digits[1:]) | (number_ends[:-1] & (begins | alone)[1:])
        marks = np.zeros(len(column.codes), dtype=bool)
        marks[dense[found]] = True
        return column.lines_with(marks)

    def of(self, text: str) -> list[str]:
        """The currencies as they stand in the text, in their order.

        What is numbered is no amount: a placeholder (%2$.250s), a name in a list of pairs (`BEF1:AFT1`).
        """
        return [before or after for before, after in self._amount.findall(without_numbering(text))]

    def kinds(self, found: list[str]) -> list[tuple[frozenset[str], bool]]:
        """What each of the currencies may be, and whether it is written with letters."""
        return [(self._codes[name], is_code(name)) for name in found]


def _firsts(names: Iterable[str]) -> set[str]:
    return {name[0] for name in names}


def _class(characters: Iterable[str]) -> str:
    return "".join(map(re.escape, sorted(characters)))


def _any_of(names: Iterable[str]) -> str:
    """A regular expression for any of the names, the longest first, grouped by their first characters."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    groups = []
    for first in sorted(_firsts(names)):
        rests = [re.escape(name[1:]) for name in longest_first if name[0] == first]
        groups.append(f"{re.escape(first)}(?:{'|'.join(rests)})")
    return "|".join(groups)


def is_code(name: str) -> bool:
    """Whether a currency is written with letters: EUR, not €."""
    return any(map(str.isalpha, name))


def without_words(found: Sequence[str], others: Sequence[str], other: str) -> list[str]:
    """The currencies of a text, without the codes that the other text has as a word."""
    return [
        name
        for name in found
        if name in others
        or not is_code(name)
        or not re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", other, re.IGNORECASE)
    ]


def _exchanged(text: str, old: str, new: str) -> str:
    """The text with another currency wherever one stands by itself, and in no word: ALL, but not ALLEGRO."""
    return regex.sub(rf"(?<!\p{{Latin}}){regex.escape(old)}(?!\p{{Latin}})", lambda _: new, text)


def currency_mismatch(step: FilterStep, names: Mapping[str, list[str]]) -> Filter:
    """Drop pairs whose currencies differ; with FIX put the source's one into the target if that is all.

    A code that the other side has too, but not beside a number, is a word: "ARM 32" and "32 bit ARM".

    OpusCleaner glues a pair that it fixes to the next one, which then is lost; here it is a line of its own.
    It also replaces codes inside of words.
    """
    currencies, fix = Currencies(names), step.flag("FIX", False)
    step.flag("DEBUG", False)

    def fixed(source: str, target: str) -> str | None:
        """The target, with the source's currency where that can be put right; None when it cannot."""
        ours, theirs = currencies.of(source), currencies.of(target)
        ours, theirs = without_words(ours, theirs, target), without_words(theirs, ours, source)
        if currencies.kinds(ours) == currencies.kinds(theirs):
            return target
        if fix and len(ours) == len(theirs) == 1 and is_code(ours[0]) == is_code(theirs[0]):
            return _exchanged(target, theirs[0], ours[0])
        return None

    def work(block: Block) -> None:
        source, target = map(currencies.lines_with, block.columns)
        rows = source | target
        block.drop_if(rows, lambda source, target: fixed(source, target) is None)
        if fix:
            block.edit_pairs(rows, lambda source, target: (source, fixed(source, target) or ""))

    return work
