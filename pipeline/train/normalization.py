"""Normalisation rules for SentencePiece, as tables: two of its own, and others that it does not have.

A table has a line for each rule: the code points of what is replaced, a tab, those of the replacement, in
hexadecimal (SentencePiece's `normalization_rule_tsv`). It matches the longest rule first.

All rules drop what nobody sees, as cleaning does (`pipeline.clean.repair`): marks of direction, soft hyphens,
spaces of no width. People copy these with their text; models have never read any. The joiners U+200C and
U+200D stay: Persian and the scripts of India are written with them. SentencePiece's own `nmt_nfkc` makes a
space of U+200C, U+200E and U+200F, and leaves other marks of direction to bytes.

`nfkc_translit_hbs` is NFKC, and writes Serbian, Bosnian and Montenegrin Cyrillic in Latin letters, so that
the languages of Serbo-Croatian (hbs in ISO 639-3) share a vocabulary. Letters of other languages stay as they
are. As in CLDR's transform Serbian-Latin/BGN, the capitals Љ, Њ and Џ become LJ, NJ and DŽ, but Lj, Nj and Dž
before a small letter.
"""

import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, product
from typing import Literal, TypeAlias

from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

Form: TypeAlias = Literal["NFC", "NFD", "NFKC"]

BUILT_IN = ("nmt_nfkc", "nfkc")
HBS = "nfkc_translit_hbs"
RULES = (*BUILT_IN, "nfc", "nfd", HBS)

_FORMS: dict[str, Form] = {"nfc": "NFC", "nfd": "NFD"}
# All that may have a normal form of its own: of U+0000 there is no text, and the planes between these and
# behind them are unassigned and private.
_CODES = (range(1, 0xD800), range(0xE000, 0x40000), range(0xE0000, 0xF0000))
_UNSEEN = (0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF)
_UNSEEN_RANGES = ((0x202A, 0x202F), (0x2060, 0x2065), (0x2066, 0x2070))
UNSEEN = "".join(map(chr, chain(_UNSEEN, *(range(*ends) for ends in _UNSEEN_RANGES))))
JOINERS = "\u200c\u200d"
_FULL_WIDTH_TILDE = "\uff5e"  # which nmt_nfkc leaves: Japanese writes ranges with it
_DROPPED = dict.fromkeys(map(ord, UNSEEN))

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
    parts = text.split(_FULL_WIDTH_TILDE) if rule == "nmt_nfkc" else [text]
    form = _FORMS.get(rule, "NFKC")
    normal = _FULL_WIDTH_TILDE.join(unicodedata.normalize(form, part) for part in parts).translate(_DROPPED)
    if rule != HBS:
        return normal
    titled = _TITLE_CASE.sub(lambda found: _SMALL[found[0].lower()].capitalize(), normal)
    return unicodedata.normalize("NFC", titled.translate(_LETTERS))


@cache
def rule_table(rule: str) -> str:
    """The table of a rule: as SentencePiece has it, or by the Unicode version of this Python."""
    texts = set(_variants(rule))
    if rule == HBS:
        followers = [text for text in texts if text[0] in _SMALL]
        texts.update(digraph + follower for digraph in _DIGRAPHS for follower in followers)
    ordered = sorted(texts.difference(UNSEEN, JOINERS))
    normal = _built_in(rule, ordered) if rule in BUILT_IN else [normalize(rule, text) for text in ordered]
    return "".join(
        f"{_code_points(text)}\t{_code_points(form)}\n"
        for text, form in chain(zip(ordered, normal, strict=True), ((mark, "") for mark in UNSEEN))
        if text != form
    )


def _built_in(rule: str, texts: Sequence[str]) -> list[str]:
    """Texts as a rule of SentencePiece's own leaves them, by a vocabulary that spells in bytes."""
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(["a"]),
        model_writer=model,
        vocab_size=260,
        hard_vocab_limit=False,
        byte_fallback=True,
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    vocabulary = SentencePieceProcessor(model_proto=model.getvalue())
    forms: list[str] = vocabulary.decode(vocabulary.encode(list(texts)))
    return forms


def _variants(rule: str) -> Iterator[str]:
    """Every character; where a rule composes them, also every way to spell it from parts, composed or not."""
    characters = [chr(number) for codes in _CODES for number in codes]
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
