"""The filter that joins words again which a program has parted by spaces, in languages without spaces.

Corpora of Chinese, Japanese, Thai, Khmer, Lao and Burmese are often published as their tokens.
"""

from functools import partial

import regex

from pipeline.clean.filtering.block import Block, Filter, Mask
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.filtering.strings import SOUTH_LETTERS
from pipeline.clean.filtering.texts import edit_sides

# Chinese and Japanese: letters, and with them the punctuation of full width, whose space is in its form.
_LETTERS = r"\p{Han}\p{Hiragana}\p{Katakana}ー"
_WIDE = rf"[{_LETTERS}\u3001-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]"
_EAST = regex.compile(f"[{_LETTERS}]")
_EAST_PARTED = regex.compile(f"(?<=[{_LETTERS}]) +(?=[{_LETTERS}])")
_EAST_SPACE = regex.compile(f"(?<={_WIDE}) +| +(?={_WIDE})")
# Their spaces part sentences, foreign words and numbers from what is around them.
_SOUTH = regex.compile(f"[{SOUTH_LETTERS}]")
_SOUTH_SPACE = regex.compile(f"(?<=[{SOUTH_LETTERS}]) +(?=[{SOUTH_LETTERS}])")
_HANGUL = regex.compile(r"\p{Hangul}")
# Characters between spaces, on the average: words of a segmented text have 2 and 5, clauses 8 and 20.
EAST_MOST, SOUTH_MOST = 4, 8


def desegment(step: FilterStep) -> Filter:
    """Remove spaces between words of Chinese, Japanese, Thai, Khmer, Lao and Burmese in segmented lines.

    A line is segmented if its letters of these stand, between spaces, in runs that are as short as words. In
    Chinese and Japanese spaces beside Latin words, numbers and punctuation go, too, as segmenters put them
    there. Spaces between Latin words stay, and lines with Hangul as they are: Korean has spaces.
    """
    return partial(edit_sides, sides=step.sides, edit=joined, rows=_with_space)


def _with_space(block: Block, side: int) -> Mask:
    column = block.columns[side]
    return column.lines_with(column.blanks)


def joined(text: str) -> str:
    """The text without the spaces of a segmenter."""
    if _HANGUL.search(text):
        return text
    if _is_parted(text, _EAST, _EAST_PARTED, EAST_MOST):
        text = _EAST_SPACE.sub("", text)
    if _is_parted(text, _SOUTH, _SOUTH_SPACE, SOUTH_MOST):
        text = _SOUTH_SPACE.sub("", text)
    return text


def _is_parted(text: str, letter: "regex.Pattern[str]", space: "regex.Pattern[str]", most: int) -> bool:
    """Whether there are spaces between letters, and at least one for every so many of them."""
    spaces = len(space.findall(text))
    return spaces > 0 and len(letter.findall(text)) <= most * (spaces + 1)
