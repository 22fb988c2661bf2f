"""Tests of what each data set gives of a limited number of rows."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from pipeline.clean.quotas import quotas

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


def test_the_largest_remainders_get_what_is_left() -> None:
    """The shares are 1.1, 2.6 and 6.3; and 6.3, 2.6 and 1.1."""
    assert quotas([11, 26, 63], [Fraction(1)] * 3, 10) == [1, 3, 6]
    assert quotas([63, 26, 11], [Fraction(1)] * 3, 10) == [6, 3, 1]
