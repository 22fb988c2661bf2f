"""Tests of the normal form of lines."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.common.text import normal_form


def test_unicode_forms_and_white_space_do_not_matter() -> None:
    assert normal_form(" Cafe\u0301\u00a0 au\tlait ") == "Café au lait"


def test_case_and_punctuation_matter() -> None:
    assert len({normal_form(line) for line in ("May", "may", "May.")}) == 3


@given(st.text())
def test_a_normal_form_is_its_own(line: str) -> None:
    assert normal_form(normal_form(line)) == normal_form(line)
