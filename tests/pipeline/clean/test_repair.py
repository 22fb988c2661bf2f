"""Tests of the repairs of a line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.clean.repair import repair


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("Tom &amp; Jerry", "Tom & Jerry"),
        ("&lt;3 &#124; &apos;quoted&apos; &#x41;", "<3 | 'quoted' A"),
        ("&amp;quot;twice&amp;quot;", '"twice"'),
        ("don &apos; t & quot ; hi", "don ' t \" hi"),
        ("page?a=1&copy=2&lt=3", "page?a=1&copy=2&lt=3"),
        ("a &bar; &bra;b&ket; &#91;c&#93;", "a | [b] [c]"),
        ("R&D; AT&T", "R&D; AT&T"),
        ("&#xD800; &#0;", "\ufffd \ufffd"),
    ],
)
def test_entities(text: str, repaired: str) -> None:
    assert repair(text) == repaired


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("<p>A <b>bold</b> word.</p>", "A bold word."),
        ("<b>H</b>ello", "Hello"),
        ("one<br/>two", "one two"),
        ('<a href="https://example.org?x=1">link</a>', "link"),
        ("&lt;i&gt;escaped&lt;/i&gt;", "escaped"),
        ("before <!-- a comment --> after", "before after"),
        ("3 < 5 and 7 > 2, <name>", "3 < 5 and 7 > 2, <name>"),
        ("<bold> is no tag, nor is <b", "<bold> is no tag, nor is <b"),
    ],
)
def test_markup(text: str, repaired: str) -> None:
    assert repair(text) == repaired


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("soft\u00adhyphen, zero\u200bwidth, \ufeffmark, bell\x07", "softhyphen, zerowidth, mark, bell"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("क्\u200dष", "क्\u200dष"),
        ("a\tb\r\x0bc\u2028d\u00a0e\u3000f\x85g", "a b c d e f g"),
        ("  spaces   around  ", "spaces around"),
    ],
)
def test_control_characters_and_white_space(text: str, repaired: str) -> None:
    assert repair(text) == repaired


@given(st.text())
def test_a_repaired_line_stays_one_line_with_single_spaces(text: str) -> None:
    repaired = repair(text)
    assert repaired == " ".join(repaired.split())


@given(st.text(alphabet=st.characters(categories=["L", "Nd"], exclude_characters="\u200c")))
def test_letters_and_digits_are_never_touched(text: str) -> None:
    assert repair(text) == text
