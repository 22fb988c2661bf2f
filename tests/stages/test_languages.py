"""The letters that vocabularies are told."""

from __future__ import annotations

import string
import unicodedata
from dataclasses import replace

import pytest

from pipeline.common.case import with_capitals
from tests.stages.configs import FULL, graph
from translations_assets.config.languages import language
from translations_assets.stages.languages import alphabet, letters


def test_letters_where_no_alphabet_is_known_are_those_of_the_variant_or_of_the_script() -> None:
    assert alphabet(language("wuu")) == alphabet(language("aaa")) == []
    assert set(letters(language("wuu"))) == set(letters(language("zh")))  # written in simplified characters
    assert set("ñßů") <= set(letters(language("aaa")))
    tocharian = replace(language("ti"), code="qaa", script="Brahmi", marks="")
    assert set("𑀅𑀆𑀓𑀸") <= set(letters(tocharian))


def test_letters_are_of_the_language_and_digits_count_as_some() -> None:
    """An engine that writes bytes by their names would make `9<0x30>` of 90."""
    french = letters(language("fr"))
    assert set("ùûœïç0123456789") <= set(french)
    assert not set("ñß ") & set(french)
    assert "ß" in letters(language("de"))
    assert "њ" in letters(language("sr"))
    assert "đ" in letters(language("sr_latn"))


@pytest.mark.parametrize(
    ("code", "capitals", "foreign"),
    [
        ("fr", "ŒÀÇ", "Ñ"),
        ("tr", "İIĞ", ""),
        ("az", "İIƏ", ""),
        ("de", "ÄÖÜ", "ẞ"),
        ("el", "ΑΆ", ""),
        ("sr", "Њ", "Đ"),
        ("sr_latn", "Đ", "Њ"),
        ("hy", "Ա", ""),
    ],
)
def test_scripts_know_the_capitals(code: str, capitals: str, foreign: str) -> None:
    known = with_capitals(letters(language(code)), code)
    assert set(known) >= {*letters(language(code)), *capitals}
    assert not set(known) & set(foreign)
    assert list(known) == sorted(set(known))


@pytest.mark.parametrize(
    ("code", "own"),
    [
        ("ar", "٠١٩،؛؟٪ـڤ"),
        ("fa", "۰۱۹،؛؟٪يَِ\u200c"),  # an Arabic letter in a name; vowel signs; the joiner inside words
        ("ur", "۰۹۔؟ٹ"),
        ("hi", "०९।॥ळ\u200d"),  # a letter of Marathi
        ("mr", "०९।\u200d"),
        ("bn", "০৯।৳\u200c"),
        ("th", "๐๙ๆ"),
        ("km", "០៩។ៗ"),
        ("my", "၀၉၊။"),
        ("he", "־׳״"),
        ("hy", "։՞՛"),
        ("el", "·«»"),
        ("ja", "。、「」・ー〜ぁンゞ々日本"),
        ("zh", "。、《》中国们"),
        ("zh_hant", "。、《》中國"),
        ("ko", "·〈〉「」"),
    ],
)
def test_digits_and_marks_of_the_script_are_among_them(code: str, own: str) -> None:
    """Python's `unicodedata` says what NFKC leaves of full-width marks: ASCII's."""
    known = set(letters(language(code)))
    assert set(own) <= known
    assert {*string.digits, *string.punctuation, *string.ascii_letters} <= known
    assert all(unicodedata.normalize("NFKC", sign) == sign for sign in language(code).marks)


def test_hangul_and_ideographs_of_others_are_not() -> None:
    assert not any("가" <= letter <= "힣" for letter in letters(language("ko")))
    assert not set("國體") & set(letters(language("zh")))
    assert sum("\u3400" <= letter <= "\u9fff" for letter in letters(language("ja"))) < 3_000


def test_names_of_neighbours_are_spelled_in_their_letters_but_for_latin() -> None:
    assert set("ўіїђ") <= set(letters(language("ru")))
    assert not set("řß") & set(letters(language("en")))


def test_vocabulary_and_gate_are_told() -> None:
    made = graph(FULL)
    vocabulary = next(step for step in made.steps if step.label.startswith("train-vocab"))
    gate = next(step for step in made.steps if step.label.startswith("check-vocab"))
    assert vocabulary.args["trg_letters"] == gate.args["letters_second"] != ""
    assert vocabulary.args["src_letters"] == gate.args["letters_first"] != ""
