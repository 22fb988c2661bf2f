"""Tests of the language identification."""

import logging

import pytest

from pipeline.clean.language import MIN_LETTERS, confusable, is_foreign, known_code, log_coverage


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Das Mädchen liest das Buch im Garten.", "en"),
        ("Veo la casa bonita cerca del mar.", "en"),
        ("The old teacher read the book.", "eo"),
        ("La malnova instruisto legis la libron.", "en"),
        ("Duży pies je świeży chleb.", "en"),
        ("Большая собака ест свежий хлеб.", "kk"),
    ],
)
def test_other_languages_are_foreign(text: str, code: str) -> None:
    assert is_foreign(text, code)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The village of Haldarsvík offers views of the islands.", "en"),
        ("Commander of Civil Defence Srečko Šestan", "en"),
        ("German Association of University Professors (Deutscher Hochschulverband)", "en"),
        ("La patro donis libron al la filino.", "eo"),
        ("Заят не пострадал в аварии.", "ru"),
        ("涉事飞行员是空军中队长迪罗里·帕塔维，他在一九五零年毕业于弗吉尼亚大学。", "zh"),
    ],
)
def test_sentences_of_the_language_are_not(text: str, code: str) -> None:
    assert not is_foreign(text, code)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Ona je kupila dvije crvene jabuke na tržnici.", "sr"),
        ("Hun kjøpte to røde epler på markedet i dag.", "da"),
        ("Dievča číta knihu v záhrade pri dome.", "cs"),
        ("Gadis itu membaca buku di taman belakang rumah.", "ms"),
        ("A menina lê o livro no jardim da casa.", "gl"),
    ],
)
def test_languages_that_look_alike_do_not_count_against_each_other(text: str, code: str) -> None:
    assert not is_foreign(text, code)


@pytest.mark.parametrize(
    ("lang", "code"),
    [
        ("en", "en"),
        ("nb", "no"),
        ("nn", "nn"),
        ("ff", "fuv"),
        ("gn", "gug"),
        ("zh_hant", "zh"),
        ("tlh", None),
    ],
)
def test_pipeline_codes_become_the_identifiers(lang: str, code: str | None) -> None:
    assert known_code(lang) == code


def test_a_language_is_confusable_with_itself() -> None:
    assert confusable("th") == {"th"}
    assert confusable("en").isdisjoint({"de", "fr", "es"})


def test_an_unknown_language_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        log_coverage("tlh")
    assert "tlh" in caplog.text


def test_the_known_traps_are_shorter_than_what_is_judged() -> None:
    assert all(len(text) < MIN_LETTERS for text in ("Hello.", "Да.", "No."))
