"""Normalisation rules for SentencePiece: its own by name, NFC and NFD as tables, which it does not have.

A table has a line for each rule: the code points of what is replaced, a tab, those of the replacement, in
hexadecimal (SentencePiece's `normalization_rule_tsv`). It matches the longest rule first.
"""

import sys
import unicodedata
from collections.abc import Iterator
from itertools import product
from typing import Literal

BUILT_IN = ("nmt_nfkc", "nfkc")
RULES = (*BUILT_IN, "nfc", "nfd")

_SURROGATES = range(0xD800, 0xE000)


def rule_table(name: str) -> str:
    """The table for "nfc" or "nfd", by the Unicode version of this Python."""
    form: Literal["NFC", "NFD"] = "NFC" if name == "nfc" else "NFD"
    rules = {text: unicodedata.normalize(form, text) for text in _variants(form)}
    return "".join(
        f"{_code_points(text)}\t{_code_points(normal)}\n"
        for text, normal in sorted(rules.items())
        if text != normal
    )


def _variants(form: str) -> Iterator[str]:
    """Every character, and for NFC every way to spell it from parts that are themselves composed or not."""
    for number in range(sys.maxunicode + 1):
        if number in _SURROGATES:
            continue
        character = chr(number)
        yield character
        if form == "NFC":
            yield from _spellings(character)


def _spellings(character: str) -> Iterator[str]:
    """The canonically equivalent spellings of a composed character, itself among them."""
    yield character
    decomposition = unicodedata.decomposition(character)
    if decomposition and not decomposition.startswith("<"):
        parts = [chr(int(part, 16)) for part in decomposition.split()]
        yield from map("".join, product(*(list(_spellings(part)) for part in parts)))
    elif "가" <= character <= "힣":  # Hangul syllables are composed by rule, without an entry of their own
        yield from _jamo(character)


def _jamo(syllable: str) -> Iterator[str]:
    parts = unicodedata.normalize("NFD", syllable)
    yield parts
    yield unicodedata.normalize("NFC", parts[:2]) + parts[2:]


def _code_points(text: str) -> str:
    return " ".join(f"{ord(character):X}" for character in text)
