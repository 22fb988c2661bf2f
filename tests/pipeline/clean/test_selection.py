"""Tests of the uniform choice among rows of a known number."""

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.clean import selection
from pipeline.clean.selection import Selection, places, quotas


def chosen(total: int, size: int, seed: str) -> list[int]:
    """Numbers of the chosen rows."""
    found: list[int] = Selection(total, size, seed).numbers().tolist()
    return found


@given(st.integers(0, 50), st.integers(0, 60), st.text(max_size=3))
def test_exactly_as_many_are_chosen_as_are_wanted(total: int, size: int, seed: str) -> None:
    assert len(set(chosen(total, size, seed))) == len(chosen(total, size, seed)) == min(total, size)


def test_a_seed_fixes_the_choice() -> None:
    assert chosen(100, 10, "1") == chosen(100, 10, "1")
    assert chosen(100, 10, "1") != chosen(100, 10, "2")


def test_the_choice_does_not_depend_on_host_or_version() -> None:
    assert chosen(1_000_000, 5, "seed") == [216693, 255149, 485059, 650968, 690305]


def test_a_smaller_choice_is_part_of_a_larger_one() -> None:
    assert set(chosen(1_000, 10, "1")) < set(chosen(1_000, 200, "1"))


def test_the_choice_does_not_depend_on_stretches(monkeypatch: Any) -> None:
    whole = chosen(1_000, 300, "1")
    monkeypatch.setattr(selection, "STRETCH", 7)
    assert chosen(1_000, 300, "1") == whole
    parts = [Selection(1_000, 300, "1").chosen(first, 10) for first in range(0, 1_000, 10)]
    assert np.flatnonzero(np.concatenate(parts)).tolist() == whole


@pytest.mark.parametrize("size", [1, 5, 19])
def test_every_position_is_as_likely(size: int) -> None:
    total, seeds = 20, 4_000
    counts = Counter(position for seed in range(seeds) for position in chosen(total, size, str(seed)))
    expected = seeds * size / total
    chi_square = sum((counts[position] - expected) ** 2 / expected for position in range(total))
    # 19 degrees of freedom, p = 0.001; a choice without replacement varies less still
    assert chi_square < 43.8


def test_places_are_distinct() -> None:
    assert len(np.unique(places(0, 100_000, "1"))) == 100_000
    assert (places(5, 10, "1") == places(0, 15, "1")[5:]).all()


WEIGHTS = st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(100)])


@given(st.lists(st.tuples(st.integers(0, 40), WEIGHTS), min_size=1, max_size=6), st.integers(1, 200))
def test_quotas_add_up_and_ask_of_none_more_than_it_has(
    datasets: list[tuple[int, Fraction]], size: int
) -> None:
    sizes, weights = [rows for rows, _ in datasets], [weight for _, weight in datasets]
    given_rows = quotas(sizes, weights, size)
    assert sum(given_rows) == min(size, sum(sizes))
    assert all(0 <= given <= rows for given, rows in zip(given_rows, sizes, strict=True))


def test_quotas_follow_weight_and_size() -> None:
    assert quotas([100, 100], [Fraction(3), Fraction(1)], 40) == [30, 10]
    assert quotas([100, 300], [Fraction(1), Fraction(1)], 40) == [10, 30]
    assert quotas([10, 300, 300], [Fraction(90), Fraction(1), Fraction(2)], 100) == [10, 30, 60]
    assert quotas([1, 1, 1], [Fraction(1)] * 3, 2) == [1, 1, 0]
