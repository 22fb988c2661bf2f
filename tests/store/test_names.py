"""Names become single file names, different ones different, and come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translations_assets.errors import StoreError
from translations_assets.store.names import original, safe

NAMES = st.text(st.characters(codec="utf-8"), min_size=1)


@given(NAMES)
def test_a_name_is_one_visible_plain_file_name(name: str) -> None:
    made = safe(name)
    assert made.isascii()
    assert not made.startswith(".")
    assert not set(made) & set("/\\\0\n ~*?")
    assert original(made) == name


@pytest.mark.parametrize("name", ["en-ru.big-vocab", "en-ru@abc123", "production", "ab" * 32])
def test_common_names_stay_readable(name: str) -> None:
    assert safe(name) == name


@pytest.mark.parametrize(
    ("name", "made"), [("ann/main", "ann%2Fmain"), ("..", "%2E."), ("50%", "50%25"), ("ĉ", "%C4%89")]
)
def test_other_names_are_escaped(name: str, made: str) -> None:
    assert safe(name) == made


def test_the_empty_name_is_refused() -> None:
    with pytest.raises(StoreError, match="empty name"):
        safe("")
