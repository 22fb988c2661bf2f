"""The rules that drop a line of monolingual text, in their order; the first to hold is the reason.

A rule is a function that says whether to drop. To add one, write it and put it into LINE_RULES. Cheap rules
come first, so that a line of a megabyte is gone before anything searches it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.clean.alphabet import letter_weight, letters, letters_of
from pipeline.clean.cleaning import Cleaned
from pipeline.clean.identification import Identifier
from pipeline.clean.repair import repair
from pipeline.clean.tally import Tally

MAX_RAW = 25_000  # characters before repairs: 150 words of 150 characters, spaces, some markup
MAX_WORDS = 150
MAX_UNSPACED = 450  # characters, where characters are the words: about three make an English word
MAX_WORD = 150  # characters
MIN_LETTER_SHARE = 0.4  # of the characters that are not white space
MIN_SCRIPT_SHARE = 0.4  # of the letters; below it a text is in another script, names and quotations aside


@dataclass(frozen=True)
class Language:
    """What the rules must know of a language: pipeline code, script, whether characters are its words."""

    code: str
    script: str
    unspaced: bool


class Line:
    """One repaired line (so words are parted by single spaces), with what several rules ask."""

    __slots__ = ("characters", "language", "script_letters", "text", "words")

    def __init__(self, text: str, language: Language) -> None:
        self.text = text
        self.language = language
        spaces = text.count(" ")
        self.words = spaces + 1
        self.characters = len(text) - spaces  # that are not white space
        self.script_letters = letters_of(language.script, text)


LineRule = Callable[[Line], bool]


def is_empty(line: Line) -> bool:
    """Nothing is left."""
    return not line.text


def is_too_long(line: Line) -> bool:
    """More than 150 words; 450 characters where characters are the words."""
    if line.language.unspaced:
        return len(line.text) > MAX_UNSPACED
    return line.words > MAX_WORDS


def has_long_word(line: Line) -> bool:
    """A word of more than 150 characters; in unspaced text a "word" is a whole clause and not asked."""
    if line.language.unspaced or len(line.text) <= MAX_WORD:
        return False
    return max(map(len, line.text.split(" "))) > MAX_WORD


def has_few_letters(line: Line) -> bool:
    """Numbers, punctuation and symbols prevail."""
    needed = MIN_LETTER_SHARE * line.characters
    return line.script_letters < needed and letters(line.text) < needed


def is_other_script(line: Line) -> bool:
    """Most letters are of another script; a Han character outweighs three letters of a Latin name."""
    if line.script_letters >= MIN_SCRIPT_SHARE * line.characters:
        return False
    expected = line.script_letters * letter_weight(line.language.script)
    others = letters(line.text) - line.script_letters
    return expected < MIN_SCRIPT_SHARE * (expected + others)


LINE_RULES: dict[str, LineRule] = {
    "empty": is_empty,
    "too_long": is_too_long,
    "long_word": has_long_word,
    "few_letters": has_few_letters,
    "other_script": is_other_script,
}


def reason_to_drop(line: Line) -> str | None:
    """The first rule that a line breaks; None when it is good."""
    for name, rule in LINE_RULES.items():
        if rule(line):
            return name
    return None


class RuleCleaner:
    """Cleans blocks of lines of one language; the last rule, other_language, is the identifier's."""

    def __init__(self, language: Language, identifier: Identifier) -> None:
        self._language = language
        self._identifier = identifier

    def __call__(self, sides: Sequence[list[str]]) -> Cleaned:
        """Clean one block; what becomes of a line depends on that line alone."""
        tally, kept = Tally(), []
        lines = [line for raw in sides[0] if (line := self._judged(raw, tally)) is not None]
        for line, other in zip(lines, self._identifier.others(lines, 0), strict=True):
            if other:
                tally.drop("other_language", (line,))
            else:
                kept.append(line)
        tally.kept = len(kept)
        return Cleaned([kept], tally)

    def _judged(self, raw: str, tally: Tally) -> str | None:
        """The line, repaired; None when a rule drops it."""
        if len(raw) > MAX_RAW:
            tally.drop("too_long", (raw,))
            return None
        line = Line(repair(raw), self._language)
        reason = reason_to_drop(line)
        if reason is None:
            return line.text
        tally.drop(reason, (raw,))
        return None
