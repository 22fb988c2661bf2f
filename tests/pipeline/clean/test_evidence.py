"""Tests of what of a line tells its language."""

import pytest

from pipeline.clean.evidence import Script
from pipeline.clean.filtering.block import Column
from pipeline.common.errors import InputError

BUFFALO = "Buffalo buffalo"  # 14 letters


@pytest.mark.parametrize(
    ("script", "line", "words"),
    [
        ("Han", "打开 %s 的 Linux 文件", "打开 的 文件"),
        ("Thai", "เครื่องมือ GNOME", "เครื่องมือ"),
        ("Cyrillic", "Файл <b>main</b>: %(count)s строк", "Файл : строк"),
        ("Latin", "See https://debian.org/a/b, /usr/share or me@debian.org --all", "See or"),
        ("Latin", "Да, the word", ", the word"),
        ("Latin", "It is late; we are tired; so go.", "It is late; we are tired; so go."),
    ],
)
def test_what_is_judged(script: str, line: str, words: str) -> None:
    assert Script(script).evidence(line).text.split() == words.split()


@pytest.mark.parametrize(
    ("script", "line", "own"),
    [
        ("Cyrillic", "абв abcdef", True),  # a third
        ("Cyrillic", "абв abcdefg", False),
        ("Han", "四五 abcdefghij", True),  # a character weighs 2.5 letters
        ("Han", "四五 abcdefghijk", False),
        ("Han", "のは", True),  # to tell Japanese, which the identifier has to
        ("Korean", "한국어 abcdef", True),
        ("Latin", "เครื่องมือ ไฟล์ ab", False),  # marks of Thai are none of Latin
        ("Latin", "123 !?", False),
    ],
)
def test_a_third_of_the_letters_make_it_the_scripts(script: str, line: str, own: bool) -> None:
    assert Script(script).evidence(line).own is own


@pytest.mark.parametrize(
    ("script", "line", "label", "allowed"),
    [
        ("Thai", "เครื่องมือ ไฟล์", "eng", False),
        ("Thai", "เครื่องมือ ไฟล์", "nod_Thai", True),
        ("Hebrew", "שלום עולם", "yid", True),
        ("Han", "无法载入文档类", "cdo", False),
        ("Han", "无法载入文档类", "jpn", False),
        ("Han", "この文書", "jpn", True),
        ("Japanese", "この文書", "cmn", False),
        ("Japanese", "環境設定画面", "cmn", True),
        ("Korean", "한국어 文書", "zho_Hans", False),
        ("Cyrillic", "Мир Linux", "mkd", True),
        ("Cyrillic", "Мир Linux", "hbs", True),
        ("Cyrillic", "Мир Linux", "hrv_Latn", False),
        ("Cyrillic", "М Linux kernel", "eng", True),  # not in the script: in another that has a third
        ("Cyrillic", "М Linux kernel", "bul", False),
        ("Han", "可 WebEngine", "jpn", False),
        ("Cyrillic", "Мир", "zxx_Zxxx", True),  # no script that Unicode has
    ],
)
def test_which_languages_are_in_question(script: str, line: str, label: str, allowed: bool) -> None:
    assert Script(script).evidence(line).allows(label) is allowed


@pytest.mark.parametrize(
    ("line", "script", "enough"),
    [
        ("nineteen letters ab", "Latin", False),
        ("twenty letters in here", "Latin", False),
        ("twenty letters, it has", "Latin", False),
        ("twenty letters it has so", "Latin", True),
        ("1234567890 1234567890", "Latin", False),
        ("我们昨天回家了", "Han", False),
        ("我们昨天晚回家了", "Han", True),
        ("我们昨天回家了 Linux", "Han", True),
        ("的 Linux", "Han", False),
        ("OpenOffice.org Writer", "Han", False),
        ("어제 저녁 우리는 집에 갔다", "Korean", False),
    ],
)
def test_what_is_enough(line: str, script: str, enough: bool) -> None:
    assert Script(script).evidence(line).is_enough is enough


def test_lists_weigh_half() -> None:
    sentence, keywords = map(
        Script("Latin").evidence, ("so; it; went; on and on", "mouse;trackball;pointer;")
    )
    assert (sentence.weight, sentence.whole) == (2 * 15, 2 * 15)
    assert (keywords.weight, keywords.whole) == (21, 2 * 21)
    assert Script("Han").evidence("毫米;millimeter;millimeters").weight == 0


def test_lines_of_the_script_in_a_block() -> None:
    long, short = "съешь ещё этих мягких булок", "да, чай"
    lines = [long, short, f"{long} {BUFFALO}", f"{long} {BUFFALO * 4}", BUFFALO * 3, ""]
    assert Script("Cyrillic").own_lines(Column(lines)).tolist() == [True, False, True, False, False, False]


def test_an_unknown_script_is_an_error() -> None:
    with pytest.raises(InputError, match="Cyrilic"):
        Script("Cyrilic")
