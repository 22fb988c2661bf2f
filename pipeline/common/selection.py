"""A uniform choice among rows, worked out for many rows at once, in memory that does not grow with them.

Every row has a place, a pseudo-random number that the seed and the row's number fix; chosen are the rows with
the lowest places. So the choice does not depend on how a text is cut into blocks, and a smaller choice by the
same seed is part of a larger one. `Selection` needs the number of rows; until it is known, `Candidates` tells
which rows cannot be chosen any more.
"""

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.uint64]

STRETCH = 1 << 16  # rows whose places are in memory at a time; they fit into a cache
BITS = 16


def places(first: int, count: int, seed: str) -> Places:
    """The places of `count` rows from number `first` on: distinct, and the same on every host.

    SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014) as a
    function of the number.
    """
    start = np.uint64(int.from_bytes(blake2b(seed.encode(), digest_size=8).digest(), "big"))
    place = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + start
    place = (place ^ (place >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    place = (place ^ (place >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return place ^ (place >> np.uint64(31))


class Selection:
    """Which `size` of `total` rows are chosen; every set of so many is as likely."""

    def __init__(self, total: int, size: int, seed: str) -> None:
        self._total, self._size, self._seed = total, size, seed
        self._last = self._nth_place(size) if 0 < size < total else None

    def chosen(self, first: int, count: int) -> npt.NDArray[np.bool_]:
        """For each of `count` rows from number `first` on whether it is chosen."""
        if self._last is None:
            return np.full(count, self._size > 0)
        return self.takes(places(first, count, self._seed))

    def takes(self, place: Places) -> npt.NDArray[np.bool_]:
        """For each place of a row whether it is chosen."""
        if self._last is None:
            return np.full(len(place), self._size > 0)
        return place <= self._last

    def numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of the chosen rows, in order."""
        found = [first + np.flatnonzero(self.chosen(first, count)) for first, count in self._stretches()]
        return np.concatenate([np.empty(0, dtype=np.int64), *found])

    def _stretches(self) -> Iterator[tuple[int, int]]:
        for first in range(0, self._total, STRETCH):
            yield first, min(STRETCH, self._total - first)

    def _nth_place(self, n: int) -> np.uint64:
        """The n-th lowest place, by the numbers of places with equal leading bits, then among those few."""
        shift = np.uint64(64 - BITS)
        counts = np.zeros(1 << BITS, dtype=np.int64)
        for stretch in self._stretches():
            counts += np.bincount(
                (places(*stretch, self._seed) >> shift).astype(np.int64), minlength=1 << BITS
            )
        ends = np.cumsum(counts)
        box = int(np.searchsorted(ends, n))
        rivals = [
            place[place >> shift == box]
            for place in (places(*stretch, self._seed) for stretch in self._stretches())
        ]
        rank = n - 1 - int(ends[box] - counts[box])
        return np.uint64(np.partition(np.concatenate(rivals), rank)[rank])


class Candidates:
    """Which rows of a stream may be among the `size` with the lowest places of all.

    Of n rows about size * (1 + log(n / size)) are let through.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._counts = np.zeros(1 << BITS, dtype=np.int64)  # rows so far, by the leading bits of their places

    def among(self, place: Places) -> npt.NDArray[np.bool_]:
        """For the next rows' places whether they may be chosen, as far as can be said by now."""
        box = (place >> np.uint64(64 - BITS)).astype(np.int64)
        self._counts += np.bincount(box, minlength=1 << BITS)
        candidates: npt.NDArray[np.bool_] = box <= np.searchsorted(np.cumsum(self._counts), self._size)
        return candidates
