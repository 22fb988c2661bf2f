"""Which lines of which dataset stand in each batch of a stage: worked out from the batch's number alone.

An epoch of a dataset is a random order of its blocks, fixed by the seed, the dataset's name and the epoch's
number; each batch takes the next lines of each dataset's epochs, as many as its weight says. So nothing is
read to find a place again, and no text is copied to be shuffled.

As OpusTrainer counts, a dataset's share of a batch is its weight times the batch's lines, rounded down, and
`until DATASET N` ends the stage after N epochs of it. There OpusTrainer fills up its last batch with lines of
the next epoch; here the last batch is shorter, and every line has been read N times.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from opustrainer.trainer import Stage

from pipeline.common.errors import InputError
from pipeline.common.selection import places

Numbers = npt.NDArray[np.int64]


class Stretch(NamedTuple):
    """Lines `first` to `last` (not included) of a block of a dataset."""

    dataset: str
    block: int
    first: int
    last: int


class Epochs:
    """The endless row of a dataset's epochs, each an order of its blocks."""

    def __init__(self, name: str, sizes: Numbers, seed: str) -> None:
        """`sizes` are the lines of each block."""
        self._name, self._sizes, self._seed = name, sizes, seed
        self.lines = int(sizes.sum())
        self._epoch = -1
        self._order = self._ends = sizes

    def take(self, position: int, count: int) -> list[Stretch]:
        """So many lines from a position on, 0 being the first epoch's beginning."""
        stretches = []
        while count:
            epoch, line = divmod(position, self.lines)
            stretch = self._next(epoch, line, count)
            stretches.append(stretch)
            position += stretch.last - stretch.first
            count -= stretch.last - stretch.first
        return stretches

    def _next(self, epoch: int, line: int, most: int) -> Stretch:
        """What is left of the block in which a line of an epoch stands, at most so many lines."""
        if epoch != self._epoch:
            self._order = np.argsort(places(0, len(self._sizes), f"{self._seed} {self._name} {epoch}"))
            self._ends = np.cumsum(self._sizes[self._order])
            self._epoch = epoch
        turn = int(np.searchsorted(self._ends, line, side="right"))
        block = int(self._order[turn])
        last = int(self._sizes[block])
        first = line - (int(self._ends[turn]) - last)
        return Stretch(self._name, block, first, min(last, first + most))


@dataclass(frozen=True)
class Mix:
    """A stage's batches: of each dataset so many lines, until one of them has been read so often."""

    shares: Mapping[str, int]
    epochs: Mapping[str, Epochs]
    until: str
    times: int | None

    @cached_property
    def batches(self) -> int | None:
        """How many batches the stage has, None for a stage without end."""
        return None if self.times is None else -(-self._wanted // self.shares[self.until])

    def batch(self, number: int) -> list[Stretch]:
        """What stands in a batch, counted from 0."""
        return [
            stretch
            for name, share in self.shares.items()
            for stretch in self.epochs[name].take(number * share, self._size(number, share))
        ]

    @property
    def _wanted(self) -> int:
        return self.epochs[self.until].lines * (self.times or 0)

    def _size(self, number: int, share: int) -> int:
        """Lines of a dataset in a batch: its share, but in the last one in proportion to what is wanted."""
        if self.batches is None or number + 1 < self.batches:
            return share
        full = self.shares[self.until]
        return share * (self._wanted - number * full) // full


def mix(stage: Stage, sizes: Mapping[str, Numbers], batch_size: int, seed: str) -> Mix:
    """A stage's batches, of datasets whose blocks have so many lines each.

    Raises InputError when a batch has no line of the dataset that ends the stage, and for an empty dataset.
    """
    shares: dict[str, int] = {}
    for dataset, weight in stage.datasets:
        shares[dataset.name] = shares.get(dataset.name, 0) + int(batch_size * weight)
    if not shares[stage.until_dataset]:
        raise InputError(
            f"The stage {stage.name} never ends: a batch of {batch_size} lines has none of "
            f"{stage.until_dataset}. Raise its weight, or batch-size."
        )
    for name, share in shares.items():
        if share and not sizes[name].sum():
            raise InputError(
                f"The stage {stage.name} mixes {share} lines of {name} into each batch, and it is empty. "
                "Give it text, or take it out of the curriculum."
            )
    epochs = {name: Epochs(name, sizes[name], seed) for name in shares}
    return Mix(shares, epochs, stage.until_dataset, stage.until_epoch)
