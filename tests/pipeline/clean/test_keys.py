"""Tests of the keys of lines: equal exactly when the lines count as the same."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.clean.keys import (
    NARROW_SPACES,
    WIDE_SPACES,
    KeySet,
    empty_key,
    keys_of,
    normal_lines,
    pair_keys,
    read_keys,
    words_only,
)
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.common.text import normal_form

SPACES = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace() and chr(code) != "\n"]
# Combining marks in a wrong order, Hangul letters that compose, compatibility and astral letters.
LETTERS = [
    "a",
    "B",
    "é",
    "ж",
    "\u0483",
    "e\u0301",
    "q\u0307\u0323",
    "ᄀ",
    "ᅡ",
    "ﬁ",
    "Å",
    "क\u093c",
    "𝅘𝅥",
    "😀",
    "\u0301",
    "\0",
    ".",
]
LINES = st.lists(st.lists(st.sampled_from([*SPACES, " ", *LETTERS]), max_size=8).map("".join), max_size=6)


def block_of(lines: list[str]) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


def test_every_white_space_is_known() -> None:
    known = {*(space.decode() for space in NARROW_SPACES), *WIDE_SPACES, " "}
    assert known == set(SPACES)


@given(LINES)
def test_a_block_has_the_normal_forms_of_its_lines(lines: list[str]) -> None:
    assert normal_lines(block_of(lines)) == [normal_form(line).encode() for line in lines]


@given(LINES)
def test_and_so_it_has_where_hardly_a_line_is_special(lines: list[str]) -> None:
    texts = [text for line in lines for text in (*["Обычный café, word."] * 9, line)]
    assert normal_lines(block_of(texts)) == [normal_form(text).encode() for text in texts]


@given(st.lists(st.sampled_from([b"a", b"\xc3", b"\xd0", b"\xcc", b"\xb0", b"\xe2", b"\xff", b"\n"])))
def test_no_invalid_utf8_is_overlooked(pieces: list[bytes]) -> None:
    block = b"".join([*[b"plain\n"] * 50, *pieces, b"\n"])
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            normal_lines(block)
    else:
        assert normal_lines(block) == [normal_form(line).encode() for line in text.split("\n")[:-1]]


@pytest.mark.parametrize("space", SPACES)
def test_white_space_of_any_kind_is_one_space(space: str) -> None:
    assert normal_lines(block_of([f"a{space}b", f"{space}a {space}b{space}", space, "a b"])) == [
        b"a b",
        b"a b",
        b"",
        b"a b",
    ]


def test_near_duplicates_agree_in_letters_marks_and_digits() -> None:
    lines = ["The «cat» sat, twice!", "the cat - sat twice", "THECATSATTWICE…", "The cat sat 2"]
    words = words_only([line.encode() for line in lines])
    assert words[0] == words[1] == words[2] == b"thecatsattwice"
    assert words[3] == b"thecatsat2"
    assert len(set(words_only([line.encode() for line in ("Straße", "STRASSE", "strasse!")]))) == 1
    assert words_only(["हिन्दी!".encode(), "हिनदी".encode()]) == ["हिन्दी".encode(), "हिनदी".encode()]


def test_lines_without_letters_are_not_near_each_other() -> None:
    assert words_only([b"...", b"!!!", b""]) == [b"...", b"!!!", b""]


def test_a_file_gives_a_key_for_each_line(tmp_path: Path) -> None:
    write_lines(tmp_path / "text.gz", ["Hi.", "", " Hi. ", "hi"])
    ((size, keys),) = read_keys(tmp_path / "text.gz")
    assert size == 14
    assert (keys[0] == keys[2]).all()
    assert (keys[1] == empty_key()).all()
    assert len(np.unique(keys, axis=0)) == 3
    ((_, near),) = read_keys(tmp_path / "text.gz", near=True)
    assert (near[0] == near[3]).all()


def test_invalid_utf8_names_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"a\nb\n\xff\n")
    with pytest.raises(InputError, match=r"text, line 3"):
        list(read_keys(tmp_path / "text"))


def test_the_sides_of_a_pair_may_not_change_places() -> None:
    a, b = keys_of([b"a"]), keys_of([b"b"])
    assert (pair_keys(a, b) == pair_keys(a, b)).all()
    assert not (pair_keys(a, b) == pair_keys(b, a)).any()


@given(st.lists(st.binary(max_size=2), max_size=20), st.lists(st.binary(max_size=2), max_size=20))
def test_a_key_set_holds_what_a_set_holds(members: list[bytes], asked: list[bytes]) -> None:
    held = KeySet(keys_of(members)).holds(keys_of(asked))
    assert held.tolist() == [text in set(members) for text in asked]


def test_both_halves_of_a_key_count() -> None:
    keys = np.array([[5, 1], [5, 2]], dtype=np.uint64)
    assert KeySet(keys[:1]).holds(keys).tolist() == [True, False]
