"""Hashes of lines and of their parts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.checks.letters import Letters, read_blocks
from pipeline.common.errors import InputError
from tests.pipeline.checks.helpers import text

LINES = st.lists(st.text(alphabet="aBb Яя1.é\u2028ß漢", max_size=12), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, world!", "hello world"),
        ("Cafe\u0301 No. 5", "café no 17"),
        ("STRASSE", "straße"),
        ("« Да »", "да"),
    ],
)
def test_case_punctuation_digits_and_white_space_do_not_count(one: str, other: str) -> None:
    first, second = Letters([one, other]).line_hashes
    assert first == second != 0


def test_letters_and_their_order_count() -> None:
    hashes = Letters(["ab", "ba", "abc", "aab", "b", "", "12."]).line_hashes.tolist()
    assert len(set(hashes[:5])) == 5
    assert hashes[5:] == [0, 0]


@given(LINES)
def test_a_line_has_the_same_hash_wherever_it_stands(lines: list[str]) -> None:
    alone = [int(Letters([line]).line_hashes[0]) for line in lines]
    assert Letters(lines).line_hashes.tolist() == alone


@given(LINES, st.integers(1, 4))
def test_parts_have_the_hash_of_a_line_of_their_letters(lines: list[str], size: int) -> None:
    letters = Letters(lines)
    for line, end in enumerate(letters.bounds[1:].tolist()):
        content = letters.of_line(line)
        for start in range(len(content) - size + 1):
            position = end - len(content) + start
            expected = Letters([content[start : start + size]]).line_hashes[0]
            assert letters.part_hashes(size)[position] == expected
            assert letters.lines_at(np.array([position]))[0] == line


def test_files_are_read_in_blocks(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("blocks")
    one, other = text(folder / "a.zst", ["1", "2", "3"]), text(folder / "b", ["x", "y", "z"])
    assert list(read_blocks([one, other], lines=2)) == [[["1", "2"], ["x", "y"]], [["3"], ["z"]]]
    short = text(folder / "short", ["x", "y"])
    with pytest.raises(InputError, match=r"a\.zst: 3, .*short: 2\)"):
        list(read_blocks([one, short]))
