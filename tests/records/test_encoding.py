"""Names become file names and come back; sealed objects come back as they were, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from translations_assets.common.errors import StoreError
from translations_assets.records.encoding import original, safe, seal, seal_bytes, unseal, unseal_bytes

NAMES = st.text(st.characters(codec="utf-8"), min_size=1)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8")),
    lambda values: st.lists(values) | st.dictionaries(st.text(st.characters(codec="utf-8")), values),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(st.characters(codec="utf-8")), JSON)


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


@given(OBJECTS)
def test_what_was_sealed_comes_back(value: dict[str, Any]) -> None:
    assert unseal(seal(value)) == value


@given(OBJECTS.filter(lambda value: "sha256" not in value))
def test_a_sealed_object_is_a_line_of_json(value: dict[str, Any]) -> None:
    line = seal(value)
    assert line.count(b"\n") == 1
    digest = json.loads(line).pop("sha256")
    assert len(digest) == 64


@given(OBJECTS, st.data())
def test_any_flipped_bit_is_found(value: dict[str, Any], data: st.DataObject) -> None:
    sealed = bytearray(seal(value))
    at = data.draw(st.integers(0, len(sealed) - 1))
    sealed[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(ValueError, match="SHA-256"):
        unseal(bytes(sealed))


@given(OBJECTS, st.data())
def test_any_missing_end_is_found(value: dict[str, Any], data: st.DataObject) -> None:
    sealed = seal(value)
    with pytest.raises(ValueError, match="SHA-256"):
        unseal(sealed[: data.draw(st.integers(0, len(sealed) - 1))])


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]\n", b'{"sha256": ""}\n'])
def test_what_was_never_sealed_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        unseal(data)


@given(st.binary(max_size=50), st.data())
def test_any_flipped_bit_in_text_is_found(text: bytes, data: st.DataObject) -> None:
    sealed = bytearray(seal_bytes(text))
    at = data.draw(st.integers(0, len(sealed) - 1))
    sealed[at] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(ValueError, match="SHA-256"):
        unseal_bytes(bytes(sealed))


@given(st.binary(max_size=50), st.data())
def test_any_missing_end_of_text_is_found(text: bytes, data: st.DataObject) -> None:
    sealed = seal_bytes(text)
    with pytest.raises(ValueError, match="SHA-256"):
        unseal_bytes(sealed[: data.draw(st.integers(0, len(sealed) - 1))])


@pytest.mark.parametrize("text", [b"src: en\n", b"# of a person\nsrc: en\n", b"begun"])
def test_text_of_the_first_version_has_no_digest(text: bytes) -> None:
    assert unseal_bytes(text) == text


@pytest.mark.parametrize("data", [b"", b"# sha", b"\0" * 80, b"begun\n\0\0\0", seal({"src": "en"})])
def test_damaged_text_is_none_of_the_first_version(data: bytes) -> None:
    with pytest.raises(ValueError, match="SHA-256"):
        unseal_bytes(data)
