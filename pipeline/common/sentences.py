"""A text cut into what a model translates at once: its sentences, and parts of those that are too long.

Sentences are those that fxtranslate finds, by UAX #29, as `Intl.Segmenter` does in Firefox. One that is too
long is cut in halves until each part fits: near its middle, where a sentence may end that UAX #29 does not
part (before a number or a small letter); else at a clause's mark; else at white space; else between two
characters.
"""

from collections.abc import Callable, Iterator

import regex
from fxtranslate import discovery

# From Unicode's Sentence_Break: STerm and ATerm end a sentence, SContinue a clause. Marks of scripts without
# spaces need none behind them.
_PLACES = (
    regex.compile(r"[\p{SB=STerm}\p{SB=ATerm}]\p{SB=Close}*\s+"),
    regex.compile(r"\p{SB=SContinue}(?:\s+|(?<=[、，；：､]))"),
    regex.compile(r"\s+"),
)
_CHARACTER = regex.compile(r"\X")  # with its marks, or an emoji of several
_NEAR = 32  # of the middle: what is longer is cut all the same
_VISIBLE = regex.compile(r"[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]")


def is_visible(text: str) -> bool:
    """Whether a text has more than white space and characters of no width.

    >>> is_visible("\\u200b "), is_visible("a ")
    (False, True)
    """
    return _VISIBLE.search(text) is not None


def parts(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    """What a text is made of, in order: joined, the parts are the text.

    A part is white space, or text without any at its ends, which fits or is one character.

    >>> [*parts("A dog. It sees, if at all, a cat.", lambda part: len(part) < 20)]
    ['A dog.', ' ', 'It sees,', ' ', 'if at all, a cat.']
    """
    end = 0
    for sentence in discovery.segment_sentences(text):
        start = text.index(sentence, end)
        if start > end:
            yield text[end:start]
        yield from _halves(sentence, fits)
        end = start + len(sentence)
    if end < len(text):
        yield text[end:]


def _halves(text: str, fits: Callable[[str], bool]) -> Iterator[str]:
    if not text or len(text) == 1 or fits(text):
        yield from filter(None, [text])
        return
    place = _place(text)
    first, rest = text[:place].rstrip(), text[place:].lstrip()
    yield from _halves(first, fits)
    yield from filter(None, [text[len(first) : len(text) - len(rest)]])
    yield from _halves(rest, fits)


def _place(text: str) -> int:
    """Where to cut a text of two characters or more: behind what is found nearest to its middle."""
    middle = len(text) // 2
    quarter = len(text) // 4
    for pattern in _PLACES:
        found = [match.end() for match in pattern.finditer(text, quarter, len(text) - quarter)]
        if found:
            return min(found, key=lambda end: abs(end - middle))
    near = _CHARACTER.finditer(text, max(0, middle - _NEAR), middle + _NEAR)
    end = next(match.end() for match in near if match.end() >= middle)
    return end if end < len(text) else middle
