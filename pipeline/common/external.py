"""Finding the best record of every key among more records than memory holds, through a scratch folder.

What comes out depends on the records alone, never on the limit that decides when the disk is used.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# high and low are the two halves of the key.
RECORD = np.dtype([("high", "<u8"), ("low", "<u8"), ("score", "<f8"), ("line", "<i8")])
Records: TypeAlias = np.ndarray[Any, np.dtype[np.void]]
Lines: TypeAlias = npt.NDArray[np.int64]

BYTES_A_RECORD = 160  # in memory while records are ranked
MIN_BITS, MAX_BITS = 4, 14  # of a key, that say into which partition its records go


class BestRecords:
    """Collects records in the order of their lines and says which have lost their key to which other.

    Of the records of a key the one with the highest score is the best, of several such the one that was added
    first. Records are dealt by their keys, which are hashes, to partitions. When more than `limit` are
    `expected`, these are files in `folder`, 32 bytes a record, small enough for `threads` of them to be in
    memory at a time. A key may have any number of records.
    """

    def __init__(self, folder: Path, expected: int, limit: int, threads: int = 1) -> None:
        self._threads = threads
        # Of a thread's share, half is for a partition's best records, half for those that are read next.
        self._chunk = max(1, limit // (2 * threads))
        self._folder = folder if expected > limit else None
        needed = -(-expected // self._chunk) if self._folder else 1
        self._bits = min(max(needed.bit_length(), MIN_BITS), MAX_BITS)
        self._partitions: list[list[Records]] = [[] for _ in range(1 << self._bits)]

    def add(self, records: Records) -> None:
        """Add records."""
        partitions = (records["high"] >> np.uint64(64 - self._bits)).astype(np.uint16)
        order = np.argsort(partitions, kind="stable")
        records, partitions = records.take(order), partitions[order]  # take: far faster than an index
        starts = np.flatnonzero(np.diff(partitions, prepend=-1)).tolist()
        for start, end in pairwise([*starts, len(records)]):
            self._append(int(partitions[start]), records[start:end])

    def losers(self) -> Iterator[tuple[Lines, Lines]]:
        """The lines of records that are not the best of their keys, and for each the line of a better."""
        numbers = range(len(self._partitions))
        with ThreadPoolExecutor(self._threads) as pool:  # most of the work is numpy's, and needs no lock
            for first in range(0, len(numbers), self._threads):  # no further ahead: memory
                some = numbers[first : first + self._threads]
                yield from chain.from_iterable(pool.map(self._losers_in, some))

    def _append(self, partition: int, records: Records) -> None:
        if self._folder is None:
            self._partitions[partition].append(records)
            return
        with self._path(self._folder, partition).open("ab") as file:
            records.tofile(file)

    def _chunks(self, partition: int) -> Iterator[Records]:
        """The records of a partition in the order in which they were added; they are gone then."""
        if self._folder is None:
            yield np.concatenate([np.empty(0, dtype=RECORD), *self._partitions[partition]])
            self._partitions[partition].clear()
        elif (path := self._path(self._folder, partition)).exists():
            with path.open("rb") as file:
                while len(records := np.fromfile(file, dtype=RECORD, count=self._chunk)):
                    yield records
            path.unlink()

    def _losers_in(self, partition: int) -> list[tuple[Lines, Lines]]:
        best, found = np.empty(0, dtype=RECORD), []
        for records in self._chunks(partition):
            best, losers = _rank(np.concatenate((best, records)))
            found.append(losers)
        return found

    def _path(self, folder: Path, partition: int) -> Path:
        return folder / f"partition.{partition:05d}"


_NOBODY: tuple[Lines, Lines] = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def _rank(records: Records) -> tuple[Records, tuple[Lines, Lines]]:
    """The best records of their keys, in any order; the lines of the others, and for each its key's best."""
    if not len(records):
        return records, _NOBODY
    records = records.take(_order(records))
    starts = np.flatnonzero(np.append(True, ~_same_key(records)))
    sizes = np.diff(starts, append=len(records))
    best = _first_best(records["score"], starts, sizes)
    lost = np.ones(len(records), dtype=bool)
    lost[best] = False
    lines = records["line"]
    return records.take(best), (lines[lost], np.repeat(lines[best], sizes)[lost])


def _first_best(scores: npt.NDArray[np.float64], starts: Lines, sizes: Lines) -> Lines:
    """Where in each run of records with one key the first one with the highest score stands."""
    if (scores == scores[0]).all():
        return starts
    numbers = np.arange(len(scores))
    best = scores == np.repeat(np.maximum.reduceat(scores, starts), sizes)
    firsts: Lines = np.minimum.reduceat(np.where(best, numbers, len(scores)), starts)
    return firsts


def _order(records: Records) -> Lines:
    """An order in which the records of a key stand together, those that came first in front.

    Sorts leading bits of the key with the record's number in the place of its last bits, all in one integer,
    several times as fast as numpy sorts numbers by their keys.
    """
    bits = np.uint64(len(records).bit_length())
    leading = records["high"] >> bits << bits
    packed = np.sort(leading | np.arange(len(records), dtype=np.uint64))
    order: Lines = (packed ^ (packed >> bits << bits)).astype(np.int64)
    leading = packed >> bits
    mixed = (leading[1:] == leading[:-1]) & ~_same_key(records.take(order))
    if mixed.any():  # of some keys only the leading bits agree
        run = np.cumsum(np.append(True, leading[1:] != leading[:-1]))
        places = np.flatnonzero(np.isin(run, run[1:][mixed]))
        few = records.take(order[places])
        order[places] = order[places][np.lexsort((few["low"], few["high"]))]
    return order


def _same_key(records: Records) -> npt.NDArray[np.bool_]:
    """For each record but the first whether it has the key of the one before."""
    high, low = records["high"], records["low"]
    same: npt.NDArray[np.bool_] = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    return same
