"""Words of a text as ICU sees them, with white space kept as tokens, so that nothing is lost.

The tokens of a line, joined by single spaces, are what OpusTrainer reads: it splits them with `str.split()`
and detokenises with `''.join(tokens).replace("▁", " ")`.
"""

import re
from collections.abc import Iterable

from icu4py.breakers import WordBreaker

SPACE = "▁"  # U+2581, SentencePiece's sign for a space

# Everything that `str.split()` would split at, and the sign itself.
_SPACES = re.compile(f"[\\s{SPACE}]")
_TOKENS = re.compile(f"{SPACE}|[^{SPACE}]+")


def tokenize(text: str, locale: str) -> list[str]:
    """Split a line into words, punctuation marks and `▁` tokens, by the word boundaries of UAX #29.

    Joining the tokens and reading `▁` as a space gives the line back, with one change: every kind of white
    space (no-break, ideographic, tab, …) and a literal `▁` become a plain space. SentencePiece makes the same
    change when it normalises; a token with white space inside would shift all later tokens in OpusTrainer.
    Each white space character is a token of its own. An unknown locale falls back to ICU's root rules.
    """
    plain = _SPACES.sub(" ", text)
    segments = (segment.replace(" ", SPACE) for segment in WordBreaker(plain, locale))
    return [token for segment in segments for token in _TOKENS.findall(segment)]


def words_of(tokens: Iterable[str]) -> list[str]:
    """The tokens that are no spaces."""
    return [token for token in tokens if token != SPACE]


def detokenize(tokens: list[str]) -> str:
    """Put a line together again from its tokens."""
    return "".join(tokens).replace(SPACE, " ")
