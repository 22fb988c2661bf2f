"""A uniform sample of a stream whose length is known, in the stream's order and in constant memory."""

import random


class Selection:
    """Says for each of `total` items whether it is among the `size` chosen ones; every set is as likely.

    Selection sampling (Knuth, The Art of Computer Programming, volume 2, 3.4.2, algorithm S): an item is
    taken with the probability (items still wanted) / (items still to come), so exactly min(size, total) are.
    """

    def __init__(self, total: int, size: int, seed: str) -> None:
        self._coming = total
        self._wanted = min(size, total)
        self._random = random.Random(seed)

    def take(self) -> bool:
        """Whether the next item is chosen; to be asked `total` times."""
        taken = self._wanted == self._coming or self._random.random() * self._coming < self._wanted
        self._coming -= 1
        self._wanted -= taken
        return taken
