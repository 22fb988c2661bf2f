"""The rules that drop a line or a pair, in the order they are asked; the first that holds gives the reason.

A rule is a function that says whether to drop. To add one, write it and put it into LINE_RULES (one side, so
both cleaning scripts use it) or PAIR_RULES (source against target). Cheap rules come first, so that a line
of a megabyte is gone before anything searches it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from unicodedata import decimal

from pipeline.clean.alphabet import letter_weight, letters, letters_of
from pipeline.clean.language import MIN_LETTERS, is_foreign, known_code

MAX_RAW = 25_000  # characters before repairs: 150 words of 150 characters, spaces, some markup
MAX_WORDS = 150
MAX_UNSPACED = 450  # characters, where characters are the words: about three make an English word
MAX_WORD = 150  # characters
MIN_LETTER_SHARE = 0.4  # of the characters that are not white space
MIN_SCRIPT_SHARE = 0.4  # of the letters; below it a text is in another script, names and quotations aside
# On the flores sets the ratio stays below 1.8 for English-Russian, 2.8 for English-Chinese.
MAX_LENGTH_RATIO = 2.2
MAX_LENGTH_RATIO_UNSPACED = 3.0
LENGTH_SLACK = 15  # characters added to both lengths, so that "Yes" may be "Да, конечно"
MIN_COPIED_WORDS = 4
MIN_NUMBERS = 4  # one side may spell a few numbers out; from four on, a third of them must meet
MIN_NUMBER_SHARE = 1 / 3

_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"\d+(?:[.,:'\u202f]\d+| \d{3}(?!\d))*")
_URL = re.compile(r"(?:https?://|www\.)\S+")


@dataclass(frozen=True)
class Language:
    """What the rules must know of one side: pipeline code, script, whether characters are its words."""

    code: str
    script: str
    unspaced: bool


class Line:
    """One repaired side of a pair (so words are parted by single spaces), with what several rules ask."""

    __slots__ = ("characters", "language", "script_letters", "text", "words")

    def __init__(self, text: str, language: Language) -> None:
        self.text = text
        self.language = language
        spaces = text.count(" ")
        self.words = spaces + 1
        self.characters = len(text) - spaces  # that are not white space
        self.script_letters = letters_of(language.script, text)


LineRule = Callable[[Line], bool]
PairRule = Callable[[Line, Line], bool]


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


def weighted_length(line: Line) -> float:
    """Length in characters of an alphabet: a Chinese character counts as three or so."""
    if not line.language.unspaced:
        return len(line.text)
    return len(line.text) * letter_weight(line.language.script)


def has_length_mismatch(src: Line, trg: Line) -> bool:
    """One side is more than 2.2 times as long as the other (three times where one has no spaces)."""
    short, long = sorted((weighted_length(src), weighted_length(trg)))
    unspaced = src.language.unspaced or trg.language.unspaced
    limit = MAX_LENGTH_RATIO_UNSPACED if unspaced else MAX_LENGTH_RATIO
    return long + LENGTH_SLACK > limit * (short + LENGTH_SLACK)


def is_copied(src: Line, trg: Line) -> bool:
    """Both sides are the same text of four or more words: not translated. Names and titles may be equal."""
    return src.text.casefold() == trg.text.casefold() and src.words >= MIN_COPIED_WORDS


def number_forms(text: str) -> set[frozenset[str]]:
    """For each number of a text the forms by which another language's way of writing it is known.

    Of the number and of its parts between separators: all digits without zeros at the ends ("400,000",
    "400 тысяч", "40万"; "2.8 million", "280万"; "0230", "02:30"), and the last two ("1990s", "90-е").
    """
    return {_forms(number) for number in _NUMBER.findall(text)}


def _forms(number: str) -> frozenset[str]:
    parts = list(map(_ascii_digits, _DIGITS.findall(number)))
    digits = {*parts, "".join(parts)}
    return frozenset({part.strip("0") for part in digits} | {f"…{part[-2:]:0>2}" for part in digits})


def _ascii_digits(number: str) -> str:
    return number if number.isascii() else "".join(str(decimal(digit)) for digit in number)


def _met(numbers: set[frozenset[str]], others: set[frozenset[str]]) -> int:
    known: frozenset[str] = frozenset().union(*others)
    return sum(not known.isdisjoint(forms) for forms in numbers)


def has_number_mismatch(src: Line, trg: Line) -> bool:
    """Numbers that are on one side and others that are on the other side, or four and more without a partner.

    Pairs in which both sides lack some of the other's numbers are dropped when half of them have no partner.
    A few numbers on one side alone are no sign: languages differ in when they spell numbers out
    ("4-month-old", "четырёхмесячные"; "19th century", "XIX век"; "10,000 years", "一萬年").
    """
    if _DIGITS.findall(src.text) == _DIGITS.findall(trg.text):
        return False
    ours, theirs = number_forms(src.text), number_forms(trg.text)
    met_ours, met_theirs = _met(ours, theirs), _met(theirs, ours)
    met, most = min(met_ours, met_theirs), max(len(ours), len(theirs))
    if met_ours < len(ours) and met_theirs < len(theirs):
        return met <= most / 2
    return most >= MIN_NUMBERS and met < MIN_NUMBER_SHARE * most


def has_url_mismatch(src: Line, trg: Line) -> bool:
    """Different numbers of web addresses, or other digits in them; the rest may be localised."""
    ours, theirs = _addresses(src.text), _addresses(trg.text)
    if len(ours) != len(theirs):
        return True
    return _DIGITS.findall(" ".join(ours)) != _DIGITS.findall(" ".join(theirs))


def _addresses(text: str) -> list[str]:
    return _URL.findall(text) if "://" in text or "www." in text else []


def is_other_language(line: Line) -> bool:
    """Clearly in another language; never asked of a line with fewer than 20 letters."""
    code = known_code(line.language.code)
    return code is not None and line.script_letters >= MIN_LETTERS and is_foreign(line.text, code)


LINE_RULES: dict[str, LineRule] = {
    "empty": is_empty,
    "too_long": is_too_long,
    "long_word": has_long_word,
    "few_letters": has_few_letters,
    "other_script": is_other_script,
}
PAIR_RULES: dict[str, PairRule] = {
    "length_mismatch": has_length_mismatch,
    "copied": is_copied,
    "url_mismatch": has_url_mismatch,
    "number_mismatch": has_number_mismatch,
}
# Last, as it costs more than all the others together.
LANGUAGE_RULES: dict[str, LineRule] = {"other_language": is_other_language}


def is_short_for_language(line: Line) -> bool:
    """Too few letters to tell the language by; such lines are kept and counted."""
    return line.script_letters < MIN_LETTERS


def reason_to_drop(sides: tuple[Line, ...]) -> str | None:
    """The first rule that a pair, or a line alone, breaks; None when it is good."""
    for name, rule in LINE_RULES.items():
        if any(map(rule, sides)):
            return name
    if len(sides) == 2:
        for name, pair_rule in PAIR_RULES.items():
            if pair_rule(sides[0], sides[1]):
                return name
    for name, rule in LANGUAGE_RULES.items():
        if any(map(rule, sides)):
            return name
    return None
