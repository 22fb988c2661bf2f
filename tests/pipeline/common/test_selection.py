"""Tests of the uniform choice among rows."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.common import selection
from pipeline.common.selection import Candidates, Selection, places


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


@given(st.lists(st.integers(0, 50), max_size=20), st.integers(1, 60), st.text(max_size=3))
def test_candidates_of_a_stream_hold_the_choice(stretches: list[int], size: int, seed: str) -> None:
    candidates, total, found = Candidates(size), 0, []
    for count in stretches:
        found += [total + n for n in np.flatnonzero(candidates.among(places(total, count, seed)))]
        total += count
    assert set(chosen(total, size, seed)) <= set(found)


def test_few_rows_of_a_long_stream_are_candidates() -> None:
    candidates, total = Candidates(1_000), 1_000_000
    passed = [
        int(np.count_nonzero(candidates.among(places(first, 1_000, "1")))) for first in range(0, total, 1_000)
    ]
    assert passed[0] == 1_000
    # by the formula 7,900; a stretch in which the bound sinks is let through by the bound at its end
    assert 5_000 < sum(passed) < 9_000


def test_a_choice_can_be_asked_for_by_place() -> None:
    selection_of_all, selection_of_some = Selection(50, 50, "1"), Selection(50, 20, "1")
    assert selection_of_all.takes(places(0, 50, "1")).all()
    assert (selection_of_some.takes(places(0, 50, "1")) == selection_of_some.chosen(0, 50)).all()
