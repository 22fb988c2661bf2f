"""The filter that drops sentences which nobody has translated: both sides are the same text."""

import regex

from pipeline.clean.filtering.block import Block, Filter
from pipeline.clean.filtering.filter_file import FilterStep
from pipeline.clean.filtering.strings import without_code

ENGLISH = "en"  # is nobody's near relative: sentences of es and pt, or of nb and da, may be the same
# A word as it stands in sentences, with punctuation about it; none has a sign of code inside.
_WORD = regex.compile(r"(?<!\S)[\"'“‘«(]*(\p{L}\p{M}*(?:['’-]?\p{L}\p{M}*)*)[\"'”’»).,;:!?…]*(?!\S)")


def untranslated(step: FilterStep) -> Filter:
    """Drop pairs of English and another language whose sides are the same text of at least WORDS words.

    At least half of the words, and two, must be written small, as in a sentence, and have two letters: names
    and titles stay, as do numbers, lists and code. Of a language without capitals no letter is small, so its
    text stays; `alphabet_ratio` drops that.
    """
    least = step.number_of("WORDS", 3)
    of_english = ENGLISH in (step.text("LANG1", ""), step.text("LANG2", ""))

    def is_sentence(source: str, target: str) -> bool:
        if source.lower() != target.lower():
            return False
        words = [match[1] for match in _WORD.finditer(without_code(source))]
        small = sum(len(word) > 1 and word[0].islower() for word in words)
        return len(words) >= least and 2 * small >= max(len(words), 4)

    def work(block: Block) -> None:
        if of_english:
            same = block.columns[0].lengths == block.columns[1].lengths
            block.drop_if(same, is_sentence)

    return work
