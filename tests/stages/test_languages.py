"""The letters that vocabularies are told."""

from __future__ import annotations

import pytest

from tests.stages.configs import FULL, graph
from translations_assets.config.languages import language, languages
from translations_assets.stages.languages import letters


def test_letters_are_small_and_capital() -> None:
    french = letters(language("fr"))
    assert set("ùûœŒÀïçÇ") <= set(french)
    assert not set("ñß2 ") & set(french)
    assert "ß" in letters(language("de"))
    assert "SS" not in letters(language("de"))
    assert set("њЊ") <= set(letters(language("sr")))
    assert set("đĐ") <= set(letters(language("sr_latn")))


@pytest.mark.parametrize("code", ["zh", "zh_hant", "ja", "ko"])
def test_large_alphabets_have_none(code: str) -> None:
    assert letters(language(code)) == ""


def test_all_others_have_some() -> None:
    without = {code for code, known in languages().items() if not letters(known)}
    assert without == {"zh", "zh_hans", "zh_hant", "ja", "ko"}


def test_vocabulary_and_gate_are_told() -> None:
    made = graph(FULL)
    vocabulary = next(step for step in made.steps if step.label.startswith("train-vocab"))
    gate = next(step for step in made.steps if step.label.startswith("check-vocab"))
    assert vocabulary.args["trg_letters"] == gate.args["letters_second"] != ""
    assert vocabulary.args["src_letters"] == gate.args["letters_first"] != ""
