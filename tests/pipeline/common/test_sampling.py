"""Sampling: uniform over the position in the stream, seeded, in the stream's order."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.common.sampling import Reservoir, sample


@given(st.integers(0, 300), st.integers(1, 60), st.integers())
def test_a_sample_is_an_ordered_part_of_the_stream(length: int, size: int, seed: int) -> None:
    chosen = sample(range(length), size, seed)
    assert chosen == sorted(set(chosen))
    assert len(chosen) == min(size, length)
    assert set(chosen) <= set(range(length))


def test_the_same_seed_gives_the_same_sample() -> None:
    assert sample(range(10_000), 5, 1) == sample(iter(range(10_000)), 5, 1)
    assert sample(range(10_000), 5, 1) != sample(range(10_000), 5, 2)


def test_the_sample_does_not_depend_on_host_or_version() -> None:
    assert sample(range(1_000_000), 6, "seed") == [49188, 235856, 247064, 279610, 612800, 737330]


def test_a_stream_is_read_to_its_end() -> None:
    stream = iter(range(1_000))
    sample(stream, 3, 1)
    assert next(stream, "end") == "end"


def test_every_position_is_equally_likely() -> None:
    """Chi-squared over 20 stretches of the stream: the tail must not be favoured, nor the head."""
    stretches, trials, size, length = 20, 2_000, 10, 200
    counts = Counter(
        position * stretches // length
        for seed in range(trials)
        for position in sample(range(length), size, seed)
    )
    expected = trials * size / stretches
    chi_squared = sum((counts[stretch] - expected) ** 2 / expected for stretch in range(stretches))
    assert chi_squared < 43.8  # 19 degrees of freedom: exceeded once in 1,000 seeds


def test_every_position_is_equally_likely_in_a_sample_of_one() -> None:
    counts = Counter(sample(range(4), 1, seed)[0] for seed in range(8_000))
    assert all(abs(counts[position] - 2_000) < 200 for position in range(4))  # five standard deviations


def test_pairs_of_positions_are_equally_likely() -> None:
    counts = Counter(tuple(sample(range(4), 2, seed)) for seed in range(6_000))
    assert len(counts) == 6
    assert all(abs(count - 1_000) < 150 for count in counts.values())


def test_a_large_reservoir_of_a_slightly_longer_stream() -> None:
    chosen = sample(range(100_050), 100_000, 3)
    missing = set(range(100_050)) - set(chosen)
    assert len(missing) == 50
    assert min(missing) < 50_000 < max(missing)


def test_the_reservoir_counts_what_it_saw() -> None:
    reservoir: Reservoir[str] = Reservoir(2, 1)
    for item in "abcde":
        reservoir.add(item)
    assert reservoir.seen == 5
    assert len(reservoir.items()) == 2


def test_a_sample_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        sample("abc", 0, 1)
