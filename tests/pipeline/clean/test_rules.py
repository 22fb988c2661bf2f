"""Tests of the rules, each on readable lines, and of their order."""

import pytest

from pipeline.clean.identification import Offline
from pipeline.clean.rules import (
    MAX_UNSPACED,
    Language,
    Line,
    RuleCleaner,
    has_few_letters,
    has_long_word,
    is_empty,
    is_other_script,
    is_too_long,
    reason_to_drop,
)

EN = Language("en", "Latin", unspaced=False)
RU = Language("ru", "Cyrillic", unspaced=False)
ZH = Language("zh", "Han", unspaced=True)


def test_empty() -> None:
    assert is_empty(Line("", EN))
    assert not is_empty(Line("A", EN))


def test_too_long_counts_words_or_characters() -> None:
    assert not is_too_long(Line(" ".join(["word"] * 150), EN))
    assert is_too_long(Line(" ".join(["word"] * 151), EN))
    assert not is_too_long(Line("字" * MAX_UNSPACED, ZH))
    assert is_too_long(Line("字" * (MAX_UNSPACED + 1), ZH))


def test_long_word() -> None:
    assert has_long_word(Line("a " + "b" * 151, EN))
    assert not has_long_word(Line("a " + "b" * 150, EN))
    assert not has_long_word(Line("字" * 200, ZH))


@pytest.mark.parametrize(
    "text", ["978-0-472-06971-2", "12:30 14:45 16:00 A", "——— *** ———", "(PDF) 1907, 185—188."]
)
def test_few_letters(text: str) -> None:
    assert has_few_letters(Line(text, EN))


@pytest.mark.parametrize("text", ["On 5 May 2020, 12 died.", "COVID-19", "Да."])
def test_enough_letters_of_any_script(text: str) -> None:
    assert not has_few_letters(Line(text, EN))


def test_other_script() -> None:
    assert is_other_script(Line("Abteilung für Infektionskrankheiten", RU))
    assert is_other_script(Line("Привет", EN))
    assert not is_other_script(Line("COVID-19 cases на сайте Министерства здравоохранения", RU))
    assert not is_other_script(
        Line("歌手 Raju Khandelwal 陪同他身边。拉卡·辛格介绍了 chhappan bhog bhajan。", ZH)
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" ".join(["word"] * 151), "too_long"),
        ("b" * 151, "long_word"),
        ("12.30", "few_letters"),
        ("Доброе утро", "other_script"),
        ("The girl reads the book in the garden.", None),
    ],
)
def test_each_line_has_one_reason(text: str, reason: str | None) -> None:
    assert reason_to_drop(Line(text, EN)) == reason


def test_the_language_is_asked_last() -> None:
    cleaner = RuleCleaner(EN, Offline([("en", "Latin")]))
    german = "Das Mädchen liest das Buch im Garten."
    cleaned = cleaner([["Hello&#33;", german, "word " * 151, "x" * 25_001, "<b>The girl</b>  reads."]])
    assert cleaned.sides == [["Hello!", "The girl reads."]]
    assert cleaned.tally.lines() == {"in": 5, "kept": 2, "dropped": {"too_long": 2, "other_language": 1}}
