"""The letters that vocabularies are told."""

from __future__ import annotations

from string import digits

import pytest

from pipeline.common.case import with_capitals
from tests.stages.configs import FULL, graph
from translations_assets.config.languages import language, languages
from translations_assets.stages.languages import letters


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


@pytest.mark.parametrize("code", ["zh", "zh_hant", "ja", "ko"])
def test_of_large_alphabets_there_are_digits_alone(code: str) -> None:
    assert letters(language(code)) == digits


def test_all_others_have_some() -> None:
    without = {code for code, known in languages().items() if letters(known) == digits}
    assert without == {"zh", "zh_hans", "zh_hant", "ja", "ko"}


def test_vocabulary_and_gate_are_told() -> None:
    made = graph(FULL)
    vocabulary = next(step for step in made.steps if step.label.startswith("train-vocab"))
    gate = next(step for step in made.steps if step.label.startswith("check-vocab"))
    assert vocabulary.args["trg_letters"] == gate.args["letters_second"] != ""
    assert vocabulary.args["src_letters"] == gate.args["letters_first"] != ""
