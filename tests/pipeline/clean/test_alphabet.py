"""Tests of the letters of scripts."""

import pytest

from benchmarks.languages import letters
from pipeline.clean.alphabet import other_letters, own_letters
from pipeline.common.errors import InputError


@pytest.mark.parametrize(
    ("script", "text", "own", "others"),
    [
        ("Latin", "Hello, world 42!", ["Hello", "world"], []),
        ("Latin", "Ĉu vi? Да.", ["Ĉu", "vi"], ["Да"]),
        ("Cyrillic", "Да, Firefox!", ["Да"], ["Firefox"]),
        ("Han", "我爱Firefox。", ["我爱"], ["Firefox"]),
        ("Hant", "我愛你", ["我愛你"], []),
        ("Japanese", "コーヒーを飲む", ["コーヒーを飲む"], []),
        ("Han", "コーヒーを飲む", ["飲"], ["コ", "ヒ", "を", "む"]),
        ("Korean", "안녕 하세요", ["안녕", "하세요"], []),
        ("Devanagari", "हिन्दी 12", ["हिन्दी"], []),
        ("Latin", "हिन्दी 12", [], ["हिन्दी"]),
        ("Arabic", "سلام", ["سلام"], []),
        ("Cyrillic", "1 µ, Сми\u0301т", ["Сми", "т"], []),
    ],
)
def test_letters_of_a_script_and_of_others(script: str, text: str, own: list[str], others: list[str]) -> None:
    assert (own_letters(script).findall(text), other_letters(script).findall(text)) == (own, others)


def test_letters_of_any_script() -> None:
    assert letters("Да, OK 42 我!") == 5


def test_an_unknown_script_is_named() -> None:
    with pytest.raises(InputError, match="'Latni'"):
        own_letters("Latni")
