"""Tests of the rules, each on readable lines, and of their order."""

import pytest

from pipeline.clean.rules import (
    MAX_UNSPACED,
    Language,
    Line,
    has_few_letters,
    has_length_mismatch,
    has_long_word,
    has_number_mismatch,
    has_url_mismatch,
    is_copied,
    is_empty,
    is_other_language,
    is_other_script,
    is_short_for_language,
    is_too_long,
    reason_to_drop,
)

EN = Language("en", "Latin", unspaced=False)
RU = Language("ru", "Cyrillic", unspaced=False)
ZH = Language("zh", "Han", unspaced=True)


def pair(src: str, trg: str, trg_language: Language = RU) -> tuple[Line, Line]:
    """An English line and its translation."""
    return Line(src, EN), Line(trg, trg_language)


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
    ("src", "trg"),
    [
        ("Yes", "Да, конечно"),
        ("Complete recovery may take longer.", "Полное восстановление может занять больше времени."),
    ],
)
def test_lengths_that_match(src: str, trg: str) -> None:
    assert not has_length_mismatch(*pair(src, trg))


def test_lengths_that_do_not() -> None:
    assert has_length_mismatch(*pair("Yes", "Полное восстановление может занять намного больше времени."))
    chinese = "警方表示，撞到該攝影師的駕駛人可能不會面臨刑事指控。"
    english = (
        "According to police, the driver that hit the photographer is unlikely to face criminal charges."
    )
    assert not has_length_mismatch(*pair(english, chinese, ZH))
    assert has_length_mismatch(*pair("Police said so.", chinese, ZH))


def test_copied() -> None:
    assert is_copied(*pair("You will never walk alone", "You will never walk ALONE"))
    assert not is_copied(*pair("Windows XP Professional", "Windows XP Professional"))


@pytest.mark.parametrize(
    ("src", "trg"),
    [
        ("It cost 1,000.50 euros.", "Это стоило 1 000,50 евро."),
        ("about 400,000 cases", "около 400 тысяч случаев"),
        ("the late 1990s", "конец 90-х"),
        ("at 0230 UTC", "в 02:30 UTC"),
        ("2.8 million barrels", "280 万桶"),
        ("in the 19th century", "в XIX веке"),
        ("On June 28, at 9:30", "6 月 28 日 9:30"),
        ("4-month-old mice", "четырёхмесячные мыши"),
        ("between 1 and 3 of 10", "от одного до трёх из десяти"),
        ("100", "١٠٠"),
        ("no numbers", "без чисел"),
    ],
)
def test_numbers_that_match(src: str, trg: str) -> None:
    assert not has_number_mismatch(*pair(src, trg))


@pytest.mark.parametrize(
    ("src", "trg"),
    [
        ("12 million in 2007", "40 миллионов в 2025 году"),
        ("Total tests: 7441.", "Всего тестов: 4601."),
        ("On 27 April there were 4,782 cases, 1,236 recovered and 337 died.", "Было много случаев."),
        ("57 small farmers, but 17 girls", "126 malgrandaj farmistoj, sed 17 knabinoj"),
        ("On 30 April: 48,519 cases, 7,594 deaths, 11,576 left", "К 18 апреля: 38 496, 5683, 8757, 30"),
    ],
)
def test_numbers_that_do_not(src: str, trg: str) -> None:
    assert has_number_mismatch(*pair(src, trg))


def test_web_addresses() -> None:
    assert has_url_mismatch(*pair("See https://example.org/a for more.", "Смотрите дальше."))
    assert has_url_mismatch(*pair("See https://example.org/page-1", "Вот https://example.org/page-2"))
    assert not has_url_mismatch(*pair("See https://example.org/en now", "Смотрите www.example.org/ru"))


def test_other_language_needs_twenty_letters() -> None:
    assert is_other_language(Line("Das Mädchen liest das Buch im Garten.", EN))
    assert not is_other_language(Line("Das Buch im Garten", EN))
    assert is_short_for_language(Line("Das Buch im Garten", EN))
    assert not is_other_language(
        Line("Das Mädchen liest das Buch im Garten.", Language("tlh", "Latin", False))
    )


@pytest.mark.parametrize("text", ["Hello.", "No.", "OK, see you!"])
def test_short_lines_are_never_foreign(text: str) -> None:
    assert reason_to_drop((Line(text, EN),)) is None


@pytest.mark.parametrize(
    ("src", "trg", "reason"),
    [
        ("", "Да.", "empty"),
        ("word " * 151, "слово", "too_long"),
        ("b" * 151, "слово", "long_word"),
        ("12.30", "слово", "few_letters"),
        ("Good morning", "Good morning to you all", "other_script"),
        ("Yes", "Полное восстановление может занять намного больше времени.", "length_mismatch"),
        ("See https://example.org", "Смотрите там, на сайте", "url_mismatch"),
        ("Total tests: 7441.", "Всего тестов: 4601.", "number_mismatch"),
        ("Das Mädchen liest das Buch im Garten.", "Девочка читает книгу в саду.", "other_language"),
        ("The girl reads the book in the garden.", "Девочка читает книгу в саду.", None),
    ],
)
def test_each_pair_has_one_reason(src: str, trg: str, reason: str | None) -> None:
    assert reason_to_drop(pair(src.strip(), trg)) == reason


def test_copied_pairs_of_one_script() -> None:
    german = Language("de", "Latin", unspaced=False)
    assert reason_to_drop(pair("You will never walk", "You will never walk", german)) == "copied"
