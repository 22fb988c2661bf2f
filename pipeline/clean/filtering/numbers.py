"""The filter that compares numbers by their values, in whatever form and words they are written.

OpusCleaner's num_mismatch compares how they are written: 79808 is not 79 808 to it, and 64bit has no number.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import regex
from icu4py.messageformat import MessageFormat

from pipeline.clean.filtering.block import Block, Filter
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.filtering.strings import SOUTH_LETTERS, WORD_LETTERS, without_numbering

# White space parts groups of three digits only; ".5" is a number as well. The expression begins with a class
# of characters, for which the search is fast, and looks back from there.
_NUMBER = re.compile(
    r"[\d.,](?:(?<=\d)\d*|(?<=[.,])(?<!\S.)\d+)(?:[.,:'’٫٬]\d+|[ \u00a0\u2009\u202f]\d{3}(?!\d))*"
)
_SEPARATOR = re.compile(r"[^\d]")
_WORD = re.compile(r"\w")
_WORDS = regex.compile(rf"(?V1)[{WORD_LETTERS}\p{{Nl}}\p{{No}}]+")
_UNSPACED = regex.compile(rf"[\u3400-\u9fff{SOUTH_LETTERS}]")
_PART_OF_WORD = regex.compile(rf"(?<=[{SOUTH_LETTERS}])\u200b")  # shows where a line may be broken
# A hyphen after a letter, a digit, a closing bracket or another hyphen is no minus.
_NEGATIVE = re.compile(r"[-\u2212](?<![\w)\]\-\u2212].)[.,]?\d+")
_GROUPING = frozenset(".,'’٬ \u00a0\u2009\u202f")
_DECIMAL = frozenset(".,٫")
_RULES = ("", "masculine", "feminine", "neuter")  # of ICU; what a language has not is the first one
MOST_SPELLED = 999  # what is larger is hardly written in words


@dataclass(frozen=True)
class Number:
    """A number as it stands in a text; `free` if it is no part of a word, as 64 in "64bit" is."""

    text: str
    free: bool
    negative: bool

    @cached_property
    def _groups(self) -> list[str]:
        return _SEPARATOR.split(self.text)

    @cached_property
    def values(self) -> frozenset[str]:
        """What it may be as one number: 1.234 is 1234 or 1.234. None for a date, a version, a time."""
        sign, groups = "-" if self.negative else "", self._groups
        separators = _SEPARATOR.findall(self.text)
        if not separators:
            return frozenset((sign + _whole(groups),))
        found = set()
        if _are_grouped(groups, separators):
            found.add(sign + _whole(groups))
        last = separators[-1]
        if last in _DECIMAL and last not in separators[:-1] and _are_grouped(groups[:-1], separators[:-1]):
            fraction = _digits(groups[-1]).rstrip("0")
            found.add(f"{sign}{_whole(groups[:-1])}.{fraction}".rstrip("."))
        return frozenset(found)

    @cached_property
    def parts(self) -> frozenset[str]:
        """The numbers between its separators, if it has some: a date's, or those of a list."""
        groups = self._groups if len(self._groups) > 1 else ()
        return frozenset(_whole([group]) for group in groups if group)


def _digits(text: str) -> str:
    """In ASCII, whatever script the digits are of."""
    return text if text.isascii() else "".join(str(int(digit)) for digit in text)


def _whole(groups: list[str]) -> str:
    return _digits("".join(groups)).lstrip("0") or "0"


def _are_grouped(groups: list[str], separators: list[str]) -> bool:
    """Whether groups are those of one number: 1,234,567, or 12,34,567 as in India."""
    if not separators:
        return True
    kinds = {" " if separator.isspace() else separator for separator in separators}
    head, *middle, last = groups
    sizes = {len(group) for group in middle}
    grouped = sizes <= {3} or (sizes == {2} and len(head) <= 2)
    return len(kinds) == 1 and kinds <= _GROUPING and 1 <= len(head) <= 3 and grouped and len(last) == 3


def numbers_of(text: str) -> Iterator[Number]:
    """The numbers of a text, in their order."""
    for match in _NUMBER.finditer(text):
        before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
        negative = bool(before) and _NEGATIVE.match(text, match.start() - 1) is not None
        yield Number(match[0], not (_WORD.match(before) or _WORD.match(after)), negative)


def number_mismatch(step: FilterStep) -> Filter:
    """Drop pairs whose numbers differ: 1 + those on both sides, by 1 + those on one side, is below RATIO.

    Numbers are compared by their values: separators of thousands and of decimals are those of any language, a
    date or version may be parted in any way, and a small number may be written in words, by ICU's rules for
    LANG1 and LANG2. A number in a word ("64bit") counts only where the other side has it.
    """
    least = step.number_of("RATIO", 1.0)
    langs = (step.text("LANG1", ""), step.text("LANG2", ""))

    def differ(source: str, target: str) -> bool:
        if least <= 1 and _written(source) == _written(target):
            return False
        texts = (without_numbering(source), without_numbering(target))
        ours, theirs = (list(numbers_of(text)) for text in texts)
        common, single = 0, 0
        for side, (numbers, others) in enumerate(((ours, theirs), (theirs, ours))):
            free = {number for number in numbers if number.free}
            missing = _missing(free, others)
            unsaid = [n for n in missing if not _is_spelled(n, texts[1 - side], langs[1 - side])]
            common, single = max(common, len(free) - len(unsaid)), single + len(unsaid)
        return (common + 1) / (single + 1) < least

    def work(block: Block) -> None:
        rows = np.zeros_like(block.alive)
        for column in block.columns:
            rows |= column.lines_with(column.digits)
        block.drop_if(rows, differ)

    return work


def _written(text: str) -> tuple[set[str], set[str]]:
    """The numbers of a text, and those with a minus, as they are written: enough to know of most pairs."""
    return set(_NUMBER.findall(text)), set(_NEGATIVE.findall(text))


def _missing(numbers: set[Number], others: list[Number]) -> list[Number]:
    """Those of the numbers that are not among the others, nor all their parts."""
    known = frozenset[str]().union(*(number.values | number.parts for number in others))
    return [
        number
        for number in numbers
        if not (number.values & known or (number.parts and number.parts <= known))
    ]


def _is_spelled(number: Number, text: str, lang: str) -> bool:
    """Whether a text has a small number in words: 2 as "deux", 1 as "une", 3 as "troisième"."""
    if not lang or len(number.text) > len(str(MOST_SPELLED)) or not number.text.isdecimal():
        return False
    words = f" {' '.join(_WORDS.findall(_PART_OF_WORD.sub('', text.casefold())))} "
    return any(form in words for form in _spelled(int(number.text), lang))


@cache
def _spelled(number: int, lang: str) -> frozenset[str]:
    kinds = [f"%spellout-{kind}{rule and '-'}{rule}" for kind in ("cardinal", "ordinal") for rule in _RULES]
    forms = {MessageFormat(f"{{n,spellout,{kind}}}", lang).format({"n": number}) for kind in kinds}
    words = (_PART_OF_WORD.sub("", form.replace("\xad", "")).replace("-", " ").casefold() for form in forms)
    return frozenset(word if _UNSPACED.match(word) else f" {word} " for word in words)
