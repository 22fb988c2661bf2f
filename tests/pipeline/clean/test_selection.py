"""Tests of the uniform choice from a stream of known length."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.clean.selection import Selection


def chosen(total: int, size: int, seed: str) -> list[int]:
    """Positions of the chosen items."""
    selection = Selection(total, size, seed)
    return [position for position in range(total) if selection.take()]


@given(st.integers(0, 50), st.integers(0, 60), st.text(max_size=3))
def test_exactly_as_many_are_chosen_as_are_wanted(total: int, size: int, seed: str) -> None:
    assert len(chosen(total, size, seed)) == min(total, size)


def test_a_seed_fixes_the_choice() -> None:
    assert chosen(100, 10, "1") == chosen(100, 10, "1")
    assert chosen(100, 10, "1") != chosen(100, 10, "2")


@pytest.mark.parametrize("size", [1, 5, 19])
def test_every_position_is_as_likely(size: int) -> None:
    total, seeds = 20, 4_000
    counts = Counter(position for seed in range(seeds) for position in chosen(total, size, str(seed)))
    expected = seeds * size / total
    chi_square = sum((counts[position] - expected) ** 2 / expected for position in range(total))
    # 19 degrees of freedom, p = 0.001; a choice without replacement varies less still
    assert chi_square < 43.8
