"""Filters that repair the text of one side: white space, entities, substitutions."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pipeline.clean.filtering.block import Block, Column, Counts, Filter, Mask
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.common.errors import InputError

Edit = Callable[[str], str]

# What Moses writes for characters that have a meaning of their own to it, in the order of their replacement.
_ENTITIES = {
    "&bar;": "|",
    "&#124;": "|",
    "&lt;": "<",
    "&gt;": ">",
    "&bra;": "[",
    "&ket;": "]",
    "&quot;": '"',
    "&apos;": "'",
    "&#91;": "[",
    "&#93;": "]",
    "&amp;": "&",
}


def edit_sides(block: Block, sides: Sequence[int], edit: Edit, rows: Callable[[Block, int], Mask]) -> None:
    """Edit those lines of the sides that `rows` picks."""
    for side in sides:
        block.edit(side, rows(block, side), edit)


def all_rows(block: Block, side: int) -> Mask:
    """Every line."""
    return block.alive


def normalize_whitespace(step: FilterStep) -> Filter:
    """Make every run of white space one space, none at the ends; without COLLAPSE only the latter."""
    if step.flag("COLLAPSE", True):
        return partial(edit_sides, sides=step.sides, edit=_collapse, rows=_untidy)
    return partial(edit_sides, sides=step.sides, edit=str.strip, rows=_padded)


def _collapse(text: str) -> str:
    return " ".join(text.split())


def _untidy(block: Block, side: int) -> Mask:
    return block.columns[side].untidy


def _padded(block: Block, side: int) -> Mask:
    return block.columns[side].padded


def deescape(step: FilterStep) -> Filter:
    """Replace Moses' entities; LANG1 changes nothing, as in OpusCleaner."""
    step.text("LANG1", "")
    return partial(edit_sides, sides=step.sides, edit=_deescape, rows=_with_ampersand)


def _deescape(text: str) -> str:
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return text


def _with_ampersand(block: Block, side: int) -> Mask:
    column = block.columns[side]
    return column.lines_with(column.is_character("&"))


def substitute(step: FilterStep) -> Filter:
    """Python's regular expressions, replaced one after the other: [pattern, replacement, count, flags]."""
    substitutions = [_substitution(step, entry) for entry in step.value("patterns", [])]

    def edit(text: str) -> str:
        for pattern, replacement, count in substitutions:
            text = pattern.sub(replacement, text, count=count)
        return _one_line(step, text)

    def work(block: Block) -> None:
        edit_sides(block, step.sides or range(len(block.columns)), edit, all_rows)

    return work


def _substitution(step: FilterStep, entry: Any) -> tuple[re.Pattern[str], str, int]:
    try:
        pattern, replacement, count, flags = entry
        flag = sum(re.RegexFlag[name] for name in flags)
    except (TypeError, ValueError, KeyError):
        raise InputError(
            f"{step}: {entry!r} is not [pattern, replacement, count, flags], with flags such as IGNORECASE."
        ) from None
    return _compiled(step, pattern, flag), replacement, count


def _one_line(step: FilterStep, text: str) -> str:
    """The text. Raises InputError if it is two lines."""
    if "\n" in text:
        raise InputError(f"{step} writes a line feed into a line: {text[:200]!r}. It may not part lines.")
    return text


def _compiled(step: FilterStep, pattern: str, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise InputError(f"{step}: {pattern!r} is no regular expression: {error}.") from error


def remove_empty_lines(step: FilterStep) -> Filter:
    """Drop pairs of which a side is empty or white space alone."""
    return _drop_empty


def _drop_empty(block: Block) -> None:
    for column in block.columns:
        block.drop(column.words == 0)


def remove_frequent_patterns(step: FilterStep, patterns: Sequence[str]) -> Filter:
    """Replace patterns on both sides: lines of `pattern TAB replacement`.

    A line of three columns begins with a pattern that `source TAB target`, as the pair was before, must match
    at its start.
    """
    substitutions = [_frequent(step, line) for line in patterns if not line.startswith("#")]

    def remove(source: str, target: str) -> tuple[str, str]:
        pair = f"{source}\t{target}"
        for condition, pattern, replacement in substitutions:
            if condition is None or condition.match(pair):
                source, target = pattern.sub(replacement, source), pattern.sub(replacement, target)
        return _one_line(step, source), _one_line(step, target)

    def concerned(block: Block) -> Mask:
        rows = np.zeros_like(block.alive)
        for _, pattern, _ in substitutions:
            for column in block.columns:
                possible = _may_begin(pattern.pattern, column).tolist()
                rows[[row for row in possible if pattern.search(column.lines[row])]] = True
        return rows

    def work(block: Block) -> None:
        block.edit_pairs(concerned(block), remove)

    return work


def _frequent(step: FilterStep, line: str) -> tuple[re.Pattern[str] | None, re.Pattern[str], str]:
    parts = line.split("\t")
    if len(parts) == 2:
        return None, _compiled(step, parts[0], 0), parts[1]
    if len(parts) == 3:
        return _compiled(step, parts[0], 0), _compiled(step, parts[1], 0), parts[2]
    raise InputError(f"{step}: a pattern has {len(parts)} columns, not 2 or 3: {line!r}.")


def _may_begin(pattern: str, column: Column) -> Counts:
    """The lines in which to search: those with the first character of a pattern that must begin a line."""
    plain = re.match(r"\^([^\\.^$*+?{}()\[\]|])(?![*?{])[^|]*$", pattern)
    if plain is None:
        return np.arange(len(column.lines))
    return np.flatnonzero(column.codes[column.starts] == ord(plain[1]))
