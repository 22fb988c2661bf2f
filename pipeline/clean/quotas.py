"""How much each data set gives of a limited number of rows."""

from collections.abc import Sequence
from fractions import Fraction


def quotas(sizes: Sequence[int], weights: Sequence[Fraction], size: int) -> list[int]:
    """How many of `size` rows each data set gives: in proportion to its weight times its rows.

    No data set gives more than it has; the others make up for that, in the same proportion. Gives
    min(size, sum(sizes)) in all.
    """
    given = [0] * len(sizes)
    open_sets = [number for number, rows in enumerate(sizes) if rows]
    left = min(size, sum(sizes))
    while open_sets:
        whole = sum(weights[n] * sizes[n] for n in open_sets)
        shares = {n: left * weights[n] * sizes[n] / whole for n in open_sets}
        full = [n for n in open_sets if shares[n] >= sizes[n]]
        if not full:
            break
        for n in full:
            given[n] = sizes[n]
            left -= sizes[n]
            open_sets.remove(n)
    else:
        return given
    for n in open_sets:
        given[n] = int(shares[n])
    by_remainder = sorted(open_sets, key=lambda n: (given[n] - shares[n], n))
    for n in by_remainder[: left - sum(given[n] for n in open_sets)]:
        given[n] += 1
    return given
