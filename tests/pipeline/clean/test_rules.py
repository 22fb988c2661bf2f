"""Tests of the rules for monolingual text, each on readable lines, their order, and what they count."""

import json
import re
from itertools import chain
from pathlib import Path
from unicodedata import is_normalized

import pytest

from pipeline.clean.filtering.cleaner import FilterCleaner
from pipeline.clean.filtering.lengths import letter_table
from pipeline.clean.identification import Heli
from pipeline.clean.repair import repair
from pipeline.clean.rules import Tokens, mono_filters
from pipeline.clean.tally import Tally
from tests.pipeline.clean.filtering.opuscleaner import FILTERS
from tests.pipeline.clean.filtering.pairs import random_pairs

ALPHABETS: dict[str, str] = json.loads((FILTERS / "alphabets.json").read_text(encoding="utf-8"))
WORDS = Tokens(unspaced=False, most=200)
CHARACTERS = Tokens(unspaced=True, most=200)


def cleaned(lines: list[str], alphabet: str | None, tokens: Tokens = WORDS) -> tuple[list[str], Tally]:
    """Lines that the rules keep, and the fate of the others."""
    letters = letter_table(ALPHABETS[alphabet]) if alphabet else None
    done = FilterCleaner(mono_filters(tokens, letters, Heli([], "Latin")))([lines])
    return done.sides[0], done.tally


def reason(line: str, alphabet: str | None, tokens: Tokens = WORDS) -> str | None:
    """Reason for which a line is dropped; None when it is kept."""
    return next(iter(cleaned([line], alphabet, tokens)[1].dropped), None)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("", "empty"),
        ("&nbsp;<br/>", "empty"),
        ("Contents:", "too_short"),
        ("Good morning.", None),
        (" ".join(["word"] * 200), None),
        (" ".join(["word"] * 201), "too_long"),
        ("word " * 5_000 + "x", "too_long"),
        ("see " + "b" * 150, None),
        ("see " + "b" * 151, "long_word"),
        ("12:30 14:45 16:00 depart", "ratio_alpha"),
        ("Доброе утро", "ratio_alpha"),
        ("a1234 b5678", "ratio_chars"),
        ("On 5 May 2020, 12 people died.", None),
        ("'Well,' (she said) '3 4 5'", "ratio_alpha"),
    ],
)
def test_each_line_has_one_reason(line: str, why: str | None) -> None:
    assert reason(line, "en") == why


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("字", "too_short"),
        ("你好", None),
        ("字" * 200, None),
        ("字" * 201, "too_long"),
        ("中 a1 b2", "ratio_alpha"),
        ("歌手名字 Rajus", "ratio_chars"),
    ],
)
def test_characters_are_the_tokens_of_chinese(line: str, why: str | None) -> None:
    assert reason(line, "zh", CHARACTERS) == why


def test_a_sentence_of_thai_is_not_one_word() -> None:
    sentence = "ตำรวจกล่าวว่าคนขับไม่ผิด" * 10
    assert reason(sentence, "th", Tokens(unspaced=True, most=600)) is None


def test_letters_are_not_asked_of_a_language_of_unknown_letters() -> None:
    assert reason("12:30 14:45", None) is None
    assert reason("12:30", None) == "too_short"


def test_accents_of_their_own_belong_to_their_letters() -> None:
    assert reason("Ĝŭĉĵ ĥŝĝ".replace("Ĝ", "G\u0302").replace("ŭ", "u\u0306"), "eo") is None


def test_the_language_is_asked_last() -> None:
    filters = mono_filters(WORDS, letter_table(ALPHABETS["en"]), Heli(["eng"], "Latin"))
    german = "Das Mädchen liest das Buch im Garten."
    lines = ["Hello&#33; You.", german, "word " * 201, "x" * 25_001, "<b>The girl</b>  reads."]
    done = FilterCleaner(filters)([lines])
    assert done.sides == [["Hello! You.", "The girl reads."]]
    assert done.tally.lines() == {"in": 5, "kept": 2, "dropped": {"too_long": 2, "other_language": 1}}


@pytest.mark.parametrize(("alphabet", "tokens"), [("en", WORDS), ("ru", WORDS), ("zh", CHARACTERS)])
def test_blocks_are_judged_as_the_rules_read(alphabet: str, tokens: Tokens) -> None:
    """The same lines one by one, as the rules are written down."""
    texts = chain.from_iterable(random_pairs(1_500, seed=7))
    lines = [text for text in texts if is_normalized("NFC", repair(text))]
    letter = re.compile(f"[{ALPHABETS[alphabet]}]", re.IGNORECASE)

    def is_good(line: str) -> bool:
        parts = list(line) if tokens.unspaced else line.split()
        if not 2 <= len(parts) <= tokens.most:
            return False
        if not tokens.unspaced and max(map(len, parts)) > 150:
            return False
        begin = sum(letter.match(part) is not None for part in parts)
        return begin / len(parts) >= 0.4 and len(letter.findall(line)) / len(line.replace(" ", "")) >= 0.5

    kept, _ = cleaned(lines, alphabet, tokens)
    assert kept == [line for line in map(repair, lines) if line and is_good(line)]
    assert 0 < len(kept) < len(lines)


def test_every_language_of_the_pipeline_has_letters() -> None:
    table = Path(__file__).parents[3] / "pipeline" / "langs" / "languages.json"
    codes = json.loads(table.read_text(encoding="utf-8"))["languages"]
    spelled = {code.lower() for code in ALPHABETS}
    assert spelled.issuperset(codes)
