"""The rules that drop a line of monolingual text, in their order; the first to hold is the reason.

They are filters, as those of pairs are: each looks at a whole block of lines at once. What they count, and
the thresholds, are Mozilla's; their names in the stats are those of its log, in small letters.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from pipeline.clean.filtering.block import Block, Column, Counts, Filter, Mask, Table
from pipeline.clean.filtering.languages import other_languages
from pipeline.clean.filtering.lengths import LetterCounts, count_letters, with_long_word
from pipeline.clean.filtering.texts import edit_sides
from pipeline.clean.identification import Identifier
from pipeline.clean.repair import repair

MIN_TOKENS = 2
MIN_ALPHA = 0.4  # of the tokens begin with a letter of the language
MIN_CHARS = 0.5  # of the characters that are not spaces are letters of the language
MAX_WORD = 150  # characters


@dataclass(frozen=True)
class Tokens:
    """What the tokens of a language are, and how many a line may have.

    unspaced    characters, spaces included, as the language is written without spaces; else words
    most        of them in a line
    """

    unspaced: bool
    most: int

    def count(self, column: Column) -> Counts:
        """The tokens of each line."""
        return column.lengths if self.unspaced else column.words

    def share_of_letters(self, counts: LetterCounts) -> npt.NDArray[np.float64]:
        """For each line the share of its tokens that begin with a letter."""
        begin, tokens = counts.starts, counts.words
        if self.unspaced:  # words are parted by single spaces, once a line is repaired
            begin, tokens = counts.letters, counts.characters + counts.words - 1
        share: npt.NDArray[np.float64] = begin / np.maximum(tokens, 1)
        return share


def mono_filters(tokens: Tokens, letters: Table | None, identifier: Identifier) -> list[tuple[str, Filter]]:
    """The repairs and the rules, by their names in the stats; `letters` are the language's, if known."""
    filters: list[tuple[str, Filter]] = [
        ("repair", partial(edit_sides, sides=(0,), edit=repair, rows=_may_need_repair)),
        ("empty", _drop_empty),
        ("too_short", partial(_drop_short, tokens=tokens)),
        ("too_long", partial(_drop_long, tokens=tokens)),
    ]
    if not tokens.unspaced:
        filters.append(("long_word", _drop_long_words))
    if letters is not None:
        filters.append(("ratio_alpha", partial(_drop_low_alpha, tokens=tokens, letters=letters)))
        filters.append(("ratio_chars", partial(_drop_low_chars, letters=letters)))
    return [*filters, ("other_language", other_languages([identifier]))]


def _may_need_repair(block: Block, side: int) -> Mask:
    """The lines that `repair` may change: few of a corpus."""
    column = block.columns[side]
    unprintable = np.array([not line.isprintable() for line in column.lines], dtype=bool)
    marked = column.lines_with(column.is_character("&") | column.is_character("<"))
    found: Mask = column.untidy | unprintable | marked
    return found


def _drop_empty(block: Block) -> None:
    """Nothing is left."""
    block.drop(block.columns[0].lengths == 0)


def _drop_short(block: Block, tokens: Tokens) -> None:
    """A single token: a word of a menu or a table's cell, no sentence."""
    block.drop(tokens.count(block.columns[0]) < MIN_TOKENS)


def _drop_long(block: Block, tokens: Tokens) -> None:
    """More tokens than a sentence has."""
    block.drop(tokens.count(block.columns[0]) > tokens.most)


def _drop_long_words(block: Block) -> None:
    """A word of more than 150 characters, such as an address; so it is in the filters of pairs."""
    block.drop(with_long_word(block.columns[0], MAX_WORD))


def _drop_low_alpha(block: Block, tokens: Tokens, letters: Table) -> None:
    """Numbers, signs or words of another script prevail."""
    block.drop(tokens.share_of_letters(count_letters(block, 0, letters)) < MIN_ALPHA)


def _drop_low_chars(block: Block, letters: Table) -> None:
    """Most characters are no letters of the language."""
    counts = count_letters(block, 0, letters)
    block.drop(counts.letters / np.maximum(counts.characters, 1) < MIN_CHARS)
