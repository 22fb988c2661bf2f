"""Finding the best record of every key among more records than memory holds, through a scratch folder.

What comes out depends on the records alone, never on the limit that decides when the disk is used.
"""

from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.common.threads import in_threads

# high and low are the two halves of the key.
RECORD = np.dtype([("high", "<u8"), ("low", "<u8"), ("score", "<f8"), ("line", "<i8")])
Records: TypeAlias = np.ndarray[Any, np.dtype[np.void]]
Lines: TypeAlias = npt.NDArray[np.int64]
# The numbers of partitions, and the records that belong to each.
Dealt: TypeAlias = list[tuple[int, Records]]

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

    def dealt(self, records: Records) -> Dealt:
        """Deal records to their partitions, for `add`; may be called in several threads at a time."""
        partitions = (records["high"] >> np.uint64(64 - self._bits)).astype(np.uint16)
        order = np.argsort(partitions, kind="stable")
        records, partitions = records.take(order), partitions[order]  # take: far faster than an index
        starts = np.flatnonzero(np.diff(partitions, prepend=-1)).tolist()
        ends = pairwise([*starts, len(records)])
        return [(int(partitions[start]), records[start:end]) for start, end in ends]

    def add(self, dealt: Dealt) -> None:
        """Add records, after those that come before them."""
        for partition, records in dealt:
            self._append(partition, records)

    def losers(self) -> Iterator[tuple[Lines, Lines]]:
        """The lines of records that are not the best of their keys, and for each the line of a better."""
        partitions = in_threads(self._losers_in, range(len(self._partitions)), self._threads)
        yield from chain.from_iterable(partitions)

    def _append(self, partition: int, records: Records) -> None:
        if self._folder is None:
            self._partitions[partition].append(records)
            return
        with self._path(self._folder, partition).open("ab") as file:
            records.tofile(file)

    def _chunks(self, partition: int) -> Iterator[Records]:
        """The records of a partition in the order in which they were added; they are gone then."""
        if self._folder is None:
            if self._partitions[partition]:
                yield np.concatenate(self._partitions[partition])
            self._partitions[partition].clear()
        elif (path := self._path(self._folder, partition)).exists():
            with path.open("rb") as file:
                while len(records := np.fromfile(file, dtype=RECORD, count=self._chunk)):
                    yield records
            path.unlink()

    def _losers_in(self, partition: int) -> list[tuple[Lines, Lines]]:
        found: list[tuple[Lines, Lines]] = []
        best = _NONE
        for records in self._chunks(partition):
            records = _sorted(np.concatenate((best, records)) if len(best) else records)
            places, losers = _rank(records)
            found.append(losers)
            best = records.take(places)
        return found

    def _path(self, folder: Path, partition: int) -> Path:
        return folder / f"partition.{partition:05d}"


_NONE: Records = np.empty(0, dtype=RECORD)


def _rank(records: Records) -> tuple[Lines, tuple[Lines, Lines]]:
    """Where the best of each key stand among sorted records; the others' lines, and those of their best."""
    starts = np.flatnonzero(np.append(True, ~_same_key(records)))
    sizes = np.diff(starts, append=len(records))
    best = _first_best(records["score"], starts, sizes)
    lost = np.ones(len(records), dtype=bool)
    lost[best] = False
    lines = records["line"]
    return best, (lines[lost], np.repeat(lines[best], sizes)[lost])


def _first_best(scores: npt.NDArray[np.float64], starts: Lines, sizes: Lines) -> Lines:
    """Where in each run of records with one key the first one with the highest score stands."""
    if (scores == scores[0]).all():
        return starts
    numbers = np.arange(len(scores))
    best = scores == np.repeat(np.maximum.reduceat(scores, starts), sizes)
    firsts: Lines = np.minimum.reduceat(np.where(best, numbers, len(scores)), starts)
    return firsts


def _sorted(records: Records) -> Records:
    """The records in an order in which those of a key stand together, those that came first in front.

    Sorts leading bits of the key with the record's number in the place of its last bits, all in one integer,
    several times as fast as numpy sorts numbers by their keys.
    """
    bits = np.uint64(len(records).bit_length())
    packed = records["high"] >> bits << bits
    packed |= np.arange(len(records), dtype=np.uint64)
    packed.sort()
    leading = packed >> bits
    packed ^= leading << bits
    records = records.take(packed.astype(np.int64))
    mixed = (leading[1:] == leading[:-1]) & ~_same_key(records)
    if mixed.any():  # of some keys only the leading bits agree
        run = np.cumsum(np.append(True, leading[1:] != leading[:-1]))
        places = np.flatnonzero(np.isin(run, run[1:][mixed]))
        few = records.take(places)
        records[places] = few.take(np.lexsort((few["low"], few["high"])))
    return records


def _same_key(records: Records) -> npt.NDArray[np.bool_]:
    """For each record but the first whether it has the key of the one before."""
    high, low = records["high"], records["low"]
    same: npt.NDArray[np.bool_] = (high[1:] == high[:-1]) & (low[1:] == low[:-1])
    return same
