"""Grouping more records by key than memory holds, through a scratch folder.

What comes out depends on the records alone, never on the budget that decides when the disk is used. Budgets
count the records' own bytes; about three times as much is needed while they are sorted.
"""

from array import array
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

BUDGET = 256 << 20
PARTITIONS = 256  # one for each first byte of a key
KEY_BYTES = 16

# high and low are the two halves of the key.
RECORD = np.dtype([("high", ">u8"), ("low", ">u8"), ("score", "<f8"), ("line", "<i8")])
Records: TypeAlias = np.ndarray[Any, np.dtype[np.void]]


def text_key(text: str) -> bytes:
    """A 128-bit hash of a text; among 10^9 texts two share one with a chance of about 10^-21."""
    return blake2b(text.encode("utf-8"), digest_size=KEY_BYTES).digest()


class KeyedRecords:
    """Collects (key, score, line) and hands back groups that hold all records of a key together.

    Needs 32 bytes a record, in memory up to the budget, beyond it on disk in `folder`; there, 1/256 of the
    records (those whose keys share the first byte) are in memory at a time.
    """

    def __init__(self, folder: Path, budget: int = BUDGET) -> None:
        self._folder = folder
        self._limit = max(1, budget // RECORD.itemsize)
        self._spilled = False
        self._clear()

    def _clear(self) -> None:
        self._keys, self._scores, self._lines = bytearray(), array("d"), array("q")

    def add(self, key: bytes, score: float, line: int) -> None:
        """Add a record; the key has 16 bytes."""
        self._keys += key
        self._scores.append(score)
        self._lines.append(line)
        if len(self._lines) >= self._limit:
            self._spill()

    def groups(self) -> Iterator[Records]:
        """Yield arrays of RECORD, each holding every record of the keys it holds, in no given order."""
        if not self._spilled:
            yield self._pending()
            return
        self._spill()
        for partition in range(PARTITIONS):
            path = self._path(partition)
            if path.exists():
                yield np.fromfile(path, dtype=RECORD)
                path.unlink()

    def _pending(self) -> Records:
        records = np.empty(len(self._lines), dtype=RECORD)
        halves = np.frombuffer(bytes(self._keys), dtype=">u8").reshape(-1, 2)
        records["high"], records["low"] = halves[:, 0], halves[:, 1]
        records["score"], records["line"] = self._scores, self._lines
        return records

    def _spill(self) -> None:
        self._spilled = True
        first_bytes = np.frombuffer(bytes(self._keys), dtype=np.uint8)[::KEY_BYTES]
        order = np.argsort(first_bytes, kind="stable")
        records = self._pending()[order]
        ends = np.searchsorted(first_bytes[order], np.arange(PARTITIONS), side="right")
        for partition, part in enumerate(np.split(records, ends[:-1])):
            if len(part):
                with self._path(partition).open("ab") as file:
                    part.tofile(file)
        self._clear()

    def _path(self, partition: int) -> Path:
        return self._folder / f"keys.{partition:03d}"


def best_of_each_key(records: Records) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each record its line and the line that wins its key: the highest score, then the lowest line."""
    order = np.lexsort((records["line"], -records["score"], records["low"], records["high"]))
    ordered = records[order]
    new_key = np.ones(len(ordered), dtype=bool)
    new_key[1:] = (np.diff(ordered["high"]) != 0) | (np.diff(ordered["low"]) != 0)
    first = np.maximum.accumulate(np.where(new_key, np.arange(len(ordered)), 0))
    lines = ordered["line"].astype(np.int64)
    return lines, lines[first]
