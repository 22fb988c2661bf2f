"""Normalisation rules for SentencePiece: two of its own by name, others as tables, which it does not have.

A table has a line for each rule: the code points of what is replaced, a tab, those of the replacement, in
hexadecimal (SentencePiece's `normalization_rule_tsv`). It matches the longest rule first.

`nfkc_translit_hbs` is NFKC, and writes Serbian, Bosnian and Montenegrin Cyrillic in Latin letters, so that
the languages of Serbo-Croatian (hbs in ISO 639-3) share a vocabulary. Letters of other languages stay as they
are. As in CLDR's transform Serbian-Latin/BGN, the capitals Љ, Њ and Џ become LJ, NJ and DŽ, but Lj, Nj and Dž
before a small letter.
"""

import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Literal, TypeAlias

Form: TypeAlias = Literal["NFC", "NFD", "NFKC"]

BUILT_IN = ("nmt_nfkc", "nfkc")
HBS = "nfkc_translit_hbs"
RULES = (*BUILT_IN, "nfc", "nfd", HBS)

_FORMS: dict[str, Form] = {"nfc": "NFC", "nfd": "NFD"}
_SURROGATES = range(0xD800, 0xE000)

_CYRILLIC = "абвгдђежзијклљмнњопрстћуфхцчџш"
_LATIN = (*"abvgdđežzijkl", "lj", *"mn", "nj", *"oprstćufhcč", "dž", "š")
# The vowels that Unicode has together with an accent. Й, Ѓ and Ќ are letters of other languages.
_ACCENTED = {"ѐ": "è", "ѝ": "ì", "ӣ": "ī", "ӯ": "ū"}
_SMALL = dict(zip(_CYRILLIC, _LATIN, strict=True)) | _ACCENTED
_LETTERS = str.maketrans(_SMALL | {letter.upper(): latin.upper() for letter, latin in _SMALL.items()})
_DIGRAPHS = "ЉЊЏ"
_TITLE_CASE = re.compile(f"[{_DIGRAPHS}](?=[{''.join(_SMALL)}])")


def normalize(rule: str, text: str) -> str:
    """A text as a rule leaves it, by the Unicode version of this Python.

    Of `nmt_nfkc`, which also drops control characters and makes all white space the same, the letters only.
    """
    normal = unicodedata.normalize(_FORMS.get(rule, "NFKC"), text)
    if rule != HBS:
        return normal
    titled = _TITLE_CASE.sub(lambda found: _SMALL[found[0].lower()].capitalize(), normal)
    return unicodedata.normalize("NFC", titled.translate(_LETTERS))


def rule_table(rule: str) -> str:
    """The table of a rule that is not built in, by the Unicode version of this Python."""
    texts = set(_variants(rule))
    if rule == HBS:
        followers = [text for text in texts if text[0] in _SMALL]
        texts.update(digraph + follower for digraph in _DIGRAPHS for follower in followers)
    rules = ((text, normalize(rule, text)) for text in sorted(texts))
    return "".join(
        f"{_code_points(text)}\t{_code_points(normal)}\n" for text, normal in rules if text != normal
    )


def _variants(rule: str) -> Iterator[str]:
    """Every character; where a rule composes them, also every way to spell it from parts, composed or not."""
    characters = [chr(number) for number in range(sys.maxunicode + 1) if number not in _SURROGATES]
    yield from characters
    if rule == "nfd":
        return
    same = defaultdict[str, list[str]](list)
    for character in characters:
        same[normalize(rule, character)].append(character)
    for character in characters:
        yield from _spellings(character, same)


def _spellings(character: str, same: Mapping[str, list[str]]) -> Iterator[str]:
    """The equivalent spellings of a character, itself among them; `same` has those of one character."""
    yield character
    yield from same.get(character, ())
    decomposition = unicodedata.decomposition(character)
    if decomposition and not decomposition.startswith("<"):
        parts = [chr(int(part, 16)) for part in decomposition.split()]
        yield from map("".join, product(*(list(_spellings(part, same)) for part in parts)))
    elif "가" <= character <= "힣":  # Hangul syllables are composed by rule, without an entry of their own
        yield from _jamo(character)


def _jamo(syllable: str) -> Iterator[str]:
    parts = unicodedata.normalize("NFD", syllable)
    yield parts
    yield unicodedata.normalize("NFC", parts[:2]) + parts[2:]


def _code_points(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)
