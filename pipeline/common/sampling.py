"""Uniform samples of a stream of unknown length, seeded, in memory bounded by the sample.

Every item of the stream is kept with the same probability, wherever it stands. The length is not guessed
from the size of a file: a guess from a compressed size makes a sample of the stream's end.
"""

import math
from collections.abc import Iterable
from random import Random
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Reservoir(Generic[Item]):
    """A uniform sample without replacement of the items added so far.

    Algorithm L of Kim-Hung Li, "Reservoir-Sampling Algorithms of Time Complexity O(n(1 + log(N/n)))", ACM
    Transactions on Mathematical Software 20(4), 1994: instead of drawing a random number for each item, as
    Vitter's Algorithm R does, it draws how many items to pass over until the next one that enters.
    """

    def __init__(self, size: int, seed: int | str) -> None:
        """A sample of at most `size` items; the same seed and stream give the same sample on every host."""
        if size < 1:
            raise ValueError(f"A sample needs a size of at least 1, not {size}")
        self.seen = 0
        self._size = size
        self._random = Random(seed)
        self._kept: list[tuple[int, Item]] = []
        self._log_w = 0.0
        self._next = 0  # position in the stream of the next item that enters the full reservoir

    def add(self, item: Item) -> None:
        """Offer the stream's next item."""
        if self.seen < self._size:
            self._kept.append((self.seen, item))
            if self.seen + 1 == self._size:
                self._next = self.seen
                self._pass_over()
        elif self.seen == self._next:
            self._kept[self._random.randrange(self._size)] = (self.seen, item)
            self._pass_over()
        self.seen += 1

    def items(self) -> list[Item]:
        """The sample, in the order of the stream; all items when there were at most `size`."""
        return [item for _, item in sorted(self._kept, key=lambda kept: kept[0])]

    def _pass_over(self) -> None:
        self._log_w += self._log_uniform() / self._size
        self._next += math.floor(self._log_uniform() / _log_one_minus_exp(self._log_w)) + 1

    def _log_uniform(self) -> float:
        # 52 bits and a half: never 0 or 1, whose logarithms would not do
        return math.log((self._random.getrandbits(52) + 0.5) / 2**52)


def sample(items: Iterable[Item], size: int, seed: int | str) -> list[Item]:
    """A uniform sample of at most `size` items in the order of the stream, which is read once, to its end."""
    reservoir: Reservoir[Item] = Reservoir(size, seed)
    for item in items:
        reservoir.add(item)
    return reservoir.items()


def _log_one_minus_exp(x: float) -> float:
    """log(1 - exp(x)) for x < 0 without cancellation, whether exp(x) is near 1 or near 0."""
    return math.log(-math.expm1(x)) if x > -math.log(2) else math.log1p(-math.exp(x))
