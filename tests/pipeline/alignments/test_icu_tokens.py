"""Tokens of ICU: boundaries, and nothing lost."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from opustrainer.tokenizers import IcuDetokenizer

from pipeline.alignments.icu_tokens import detokenize, tokenize

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=40)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, world!", ["Hello", ",", "▁", "world", "!"]),
        ("🤣 really hard", ["🤣", "▁", "really", "▁", "hard"]),
        ("👩‍👩‍👧 in 𝔊erman", ["👩‍👩‍👧", "▁", "in", "▁", "𝔊erman"]),
        ("東京に行く", ["東京", "に", "行く"]),
        ("two  spaces", ["two", "▁", "▁", "spaces"]),
        ("no-break\u00a0space\tand\u3000more", ["no", "-", "break", "▁", "space", "▁", "and", "▁", "more"]),
        ("a ▁ b", ["a", "▁", "▁", "▁", "b"]),
        ("", []),
    ],
)
def test_boundaries(text: str, tokens: list[str]) -> None:
    assert tokenize(text, "en") == tokens


def test_an_unknown_locale_falls_back_to_the_root_rules() -> None:
    assert tokenize("Hello, world!", "xx-bogus") == tokenize("Hello, world!", "en")


@given(TEXTS)
@example("a \u0301b \u2028c\x1cd\x85e\r")
def test_only_the_kind_of_white_space_is_lost(text: str) -> None:
    same = "".join(" " if character.isspace() or character == "▁" else character for character in text)
    assert detokenize(tokenize(text, "en")) == same


@given(TEXTS)
@example("a \u0301b \u2028c\x1cd\x85e\r")
def test_opustrainer_reads_the_same_tokens_and_the_same_text(text: str) -> None:
    tokens = tokenize(text, "en")
    assert " ".join(tokens).split() == tokens
    assert IcuDetokenizer("en").detokenize(tokens)[0] == detokenize(tokens)
