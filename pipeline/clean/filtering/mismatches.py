"""Filters that compare what stands on both sides: numbers, web addresses, wiki markup, patterns."""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import regex

from pipeline.clean.filtering.block import (
    Block,
    Column,
    Filter,
    Mask,
    Table,
    every_character,
    table_of,
)
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.common.errors import InputError

# A sign counts where white space, or nothing, is before it; a number where no letter or digit is before it.
# The expression begins with a class of characters, for which the search is fast, and looks back from there.
_NUMBER = re.compile(r"[-+\d](?:(?<=[-+])(?:(?<=\s.)|(?<=^.))\d+|(?<=\d)(?<!\w\d)\d*)(?:[.,:]\d+)*\b")
_SEPARATORS = re.compile(r"[^\d]+")

_ADDRESS = re.compile(
    r"\b(?:[a-z][a-z0-9+.-]*://)?"
    r"(?:[a-zA-Z0-9._~%!$&'()*+,;=:-]+@)?"
    r"(?P<host>(?:[a-zA-Z0-9-]{1,63}\.)+[a-zA-Z]{2,63}|(?:\d{1,3}\.){3}\d{1,3}|\[[0-9a-fA-F:.]+\])"
    r"(?::\d{2,5})?"
    r"(?:/[a-zA-Z0-9._~%!$&'()*+,;=:@-]*)*"
    r"(?:\?[a-zA-Z0-9._~%!$&'()*+,;=:@/?-]*)?"
    r"(?:#[a-zA-Z0-9._~%!$&'()*+,;=:@/?-]*)?\b",
    re.IGNORECASE,
)
_SENTENCE_BORDER = re.compile(r"[a-z0-9]\.[A-Z]")
_FOOTNOTE = re.compile(r"\[[0-9]+\]")
_WIKI_URL = re.compile(
    r"https?://(www\.)?[-a-zA-Z0-9@:%._+~#=]{1,256}\.[a-zA-Z0-9()]{1,6}\b([-a-zA-Z0-9()@:%_+.~#?&/=]*)"
)
_WIKI_LINK = re.compile(r"\[\[(?:.+?\|)?(.+?)\]\]")
_HEADING = re.compile(r"(==+)(.+?)\1")
_WIKI_CODE = ".mw-parser-output"


def num_mismatch(step: FilterStep) -> Filter:
    """Drop pairs whose numbers differ: 1 + those on both sides, by 1 + those on one side, is below RATIO."""
    least = step.number_of("RATIO", 1.0)
    step.flag("DEBUG", False)

    def differ(source: str, target: str) -> bool:
        ours, theirs = set(_NUMBER.findall(source)), set(_NUMBER.findall(target))
        if ours == theirs and least <= 1:
            return False
        ours, theirs = set(map(_normal, ours)), set(map(_normal, theirs))
        common, single = len(ours & theirs), len(ours ^ theirs)
        return bool(common or single) and (common + 1) / (single + 1) < least

    def work(block: Block) -> None:
        rows = np.zeros_like(block.alive)
        for column in block.columns:
            rows |= column.lines_with(column.digits)
        block.drop_if(rows, differ)

    return work


def _normal(number: str) -> str:
    """A number with its sign, without leading zeros, "*" for every separator."""
    sign, value = (number[0], number[1:]) if number[0] in "-+" else ("", number)
    if value[0] == "0":
        whole = re.match(r"0*(\d+)", value)
        value = value[whole.start(1) :] if whole else value
    return sign + (value if value.isdecimal() else _SEPARATORS.sub("*", value))


def url_mismatch(step: FilterStep) -> Filter:
    """Drop pairs whose web addresses are not the same in the same order."""
    step.flag("DEBUG", False)

    def work(block: Block) -> None:
        source, target = map(_may_have_address, block.columns)
        block.drop_if(source | target, _addresses_differ)

    return work


@cache
def _address_letters() -> Table:
    """What `[a-z]` matches without regard to case; the Kelvin sign is a K, the long s an s."""
    return table_of(re.findall("[a-z]", every_character(), re.IGNORECASE))


def _may_have_address(column: Column) -> Mask:
    """Lines with a dot between a label and two letters, three dots before digits, or an opening bracket."""
    dots = np.flatnonzero(column.is_character(".")[:-2])  # the last code is a line feed
    letters = _address_letters()
    marks = column.is_character("[")
    marks[dots[letters[column.codes[dots + 1]] & letters[column.codes[dots + 2]]]] = True
    numeric = np.zeros_like(marks)
    numeric[dots[column.digits[dots + 1]]] = True
    return column.lines_with(marks) | (column.count(numeric) >= 3)


def _addresses_differ(source: str, target: str) -> bool:
    return _addresses(source) != _addresses(target)


def _addresses(text: str) -> list[str]:
    """A host such as "end.Beginning" is two sentences without a space between them, and no address."""
    return [match[0] for match in _ADDRESS.finditer(text) if not _SENTENCE_BORDER.search(match["host"])]


@dataclass(frozen=True)
class _Markup:
    """Markup of a wiki, what stays of it, and whether only its number is compared between the sides."""

    pattern: re.Pattern[str]
    replacement: str
    counted: bool

    def differs(self, source: str, target: str) -> bool:
        ours, theirs = ({match[0] for match in self.pattern.finditer(text)} for text in (source, target))
        if self.counted:
            return len(ours) != len(theirs)
        return len(ours & theirs) < len(ours ^ theirs)


_WIKI_MARKUP = {
    "FOOTNOTES": _Markup(_FOOTNOTE, "", counted=False),
    "URLS": _Markup(_WIKI_URL, "", counted=False),
    "WIKILINKS": _Markup(_WIKI_LINK, r"\1", counted=True),
    "HEADINGS": _Markup(_HEADING, "", counted=True),
}


def fix_wiki(step: FilterStep) -> Filter:
    """Remove markup of wikis that is not on both sides alike (ALWAYS: all of it); drop lines of code.

    Both sides are stripped; what has nothing left on a side is left to `remove_empty_lines`.
    """
    if not step.flag("REMOVEEMPTYLINES", True):
        raise InputError(f"{step}: with REMOVEEMPTYLINES false OpusCleaner drops every pair. Set it to true.")
    always, code = step.flag("ALWAYS", False), step.flag("CODE", True)
    markups = [markup for name, markup in _WIKI_MARKUP.items() if step.flag(name, True)]

    def fix(source: str, target: str) -> tuple[str, str]:
        if code and (_WIKI_CODE in source or _WIKI_CODE in target):
            return "", ""
        for markup in markups:
            if always or markup.differs(source, target):
                source = markup.pattern.sub(markup.replacement, source)
                target = markup.pattern.sub(markup.replacement, target)
        return source.strip(), target.strip()

    def work(block: Block) -> None:
        source, target = map(_may_have_markup, block.columns)
        block.edit_pairs(source | target, fix)

    return work


def _may_have_markup(column: Column) -> Mask:
    """Lines with "[", "==", "://" or ".m", and those with white space at an end."""
    equal, slash, dot = (column.is_character(character) for character in "=/.")
    marks = column.is_character("[")
    marks[1:] |= equal[1:] & equal[:-1]
    marks[1:] |= slash[1:] & column.is_character(":")[:-1]
    marks[1:] |= column.is_character("m")[1:] & dot[:-1]
    return column.lines_with(marks) | column.padded


def regexp_filter(step: FilterStep) -> Filter:
    """Drop pairs of which a side matches its regular expression; with accept_match, of which one does not."""
    accept = step.flag("accept_match", False)
    try:
        patterns = [regex.compile(text) for text in step.value("regexps", ["", ""])]
    except regex.error as error:
        raise InputError(f"{step}: not a regular expression: {error}.") from error

    def is_bad(*sides: str) -> bool:
        found = [pattern.search(text) is not None for pattern, text in zip(patterns, sides, strict=True)]
        return not all(found) if accept else any(found)

    def work(block: Block) -> None:
        block.drop_if(block.alive, is_bad)

    return work


def identical(step: FilterStep) -> Filter:
    """Drop pairs whose sides are the same text, case aside; not a filter of OpusCleaner, but of 2024."""

    def work(block: Block) -> None:
        block.drop_if(block.alive, lambda source, target: source.lower() == target.lower())

    return work
