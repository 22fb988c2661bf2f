"""Tests of counting letters by script."""

import pytest

from pipeline.clean.alphabet import check_script, letters, letters_of
from pipeline.common.errors import InputError


@pytest.mark.parametrize(
    ("script", "text", "number"),
    [
        ("Latin", "Hello, world 42!", 10),
        ("Latin", "Ĉu vi? Да.", 4),
        ("Cyrillic", "Да, Firefox!", 2),
        ("Han", "我爱Firefox。", 2),
        ("Hant", "我愛你", 3),
        ("Japanese", "コーヒーを飲む", 7),
        ("Korean", "안녕 하세요", 5),
        ("Devanagari", "हिन्दी 12", 6),
        ("Arabic", "سلام", 4),
    ],
)
def test_letters_of_a_script(script: str, text: str, number: int) -> None:
    assert letters_of(script, text) == number


def test_letters_of_any_script() -> None:
    assert letters("Да, OK 42 我!") == 5


def test_an_unknown_script_is_named() -> None:
    with pytest.raises(InputError, match="'Latni'"):
        check_script("Latni")
