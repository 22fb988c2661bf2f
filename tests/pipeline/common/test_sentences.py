"""A text in parts: nothing is lost, none is too long, and the cut is where a reader would make it."""

import random

import pytest

from pipeline.common.sentences import is_visible, parts

FAMILY = "👩\u200d👩\u200d👧"
CHARACTERS = [*'ab, .!、。؟\n\t"1A', "\u0301", "\u200d", FAMILY, "\u200b", "大", "\x85", "\u2028", "\u3000"]


@pytest.mark.parametrize("seed", range(20))
def test_joined_the_parts_are_the_text_and_none_is_too_long(seed: int) -> None:
    numbers = random.Random(seed)
    for _ in range(100):
        text = "".join(numbers.choices(CHARACTERS, k=numbers.randrange(120)))
        found = [*parts(text, lambda part: len(part) <= 20)]
        assert "".join(found) == text
        assert all(part.isspace() or (part == part.strip() and len(part) <= 20) for part in found), found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n", [" \n"]),
        ("A dog.  It sees.\nYes", ["A dog.", "  ", "It sees.", "\n", "Yes"]),
        ("你好。世界。", ["你好。", "世界。"]),
        # a sentence's end that UAX #29 does not part
        ("he sees it. 2 cats see me, too", ["he sees it.", " ", "2 cats see me, too"]),
        ("if it rains a lot, we stay in", ["if it rains a lot,", " ", "we stay in"]),
        ("one thousand,two and three cats", ["one thousand,two", " ", "and three cats"]),
        ("如果明天下雨的话，我们就留在家里不出去玩了", ["如果明天下雨的话，", "我们就留在家里不出去玩了"]),
        ("إذا هطل المطر غدا، سنبقى في البيت", ["إذا هطل المطر غدا،", " ", "سنبقى في البيت"]),
        ("a big dog sees a small cat", ["a big dog sees", " ", "a small cat"]),
        ("x" * 30, ["x" * 15, "x" * 15]),
        ("e\u0301" * 13, ["e\u0301" * 7, "e\u0301" * 6]),  # 26 characters: the middle is inside of one
        (FAMILY * 7, [FAMILY * 4, FAMILY * 3]),
        ("a" + "\u0301" * 29, ["a" + "\u0301" * 14, "\u0301" * 15]),  # one that is itself too long
    ],
)
def test_where_it_is_cut(text: str, expected: list[str]) -> None:
    assert [*parts(text, lambda part: len(part) <= 20)] == expected


def test_what_has_something_to_see() -> None:
    nothing = [
        "",
        " ",
        "\t\n\u3000\u2028",
        "\u200b",
        "\u200c\u200d\ufeff\u2060",
        "\u00ad",
        "\u200f\u202b",
        "\ufe0f",
    ]
    assert not any(map(is_visible, nothing))
    assert all(map(is_visible, ["a", " .", "\u200b大", "١", "\u0301", "🐱", "\u200d✓"]))
