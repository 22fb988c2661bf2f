"""A seeded shuffle of more lines than memory holds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.common.selection import Places, places

BYTES_A_BYTE = 8  # in memory for each byte of a text that is shuffled


@dataclass(frozen=True)
class Shuffle:
    """A random order that the seed and the lines' numbers fix, whatever the lines and the limit are.

    The n-th line's place is that of pipeline.common.selection.places. Lines are dealt by their places to
    buckets of about `limit` bytes, on disk in `folder`, and each bucket is sorted in memory; a text that
    makes one bucket stays in memory.
    """

    seed: str
    folder: Path
    limit: int

    def blocks(self, blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
        """Yield the lines of the blocks, of about `size` bytes in all, in their new order, in new blocks."""
        number = max(1, -(-size // self.limit))
        if number == 1:
            text = b"".join(blocks)
            yield _in_order(text, places(0, text.count(b"\n"), self.seed))
            return
        self.folder.mkdir()
        self._deal(blocks, number)
        for bucket in range(number):
            text_file, places_file = self._path(bucket, "text"), self._path(bucket, "places")
            if text_file.exists():
                yield _in_order(text_file.read_bytes(), np.fromfile(places_file, dtype=np.uint64))
                text_file.unlink()
                places_file.unlink()

    def _deal(self, blocks: Iterable[bytes], number: int) -> None:
        first = 0
        for text in _gathered(blocks, self.limit):
            lines = text.split(b"\n")[:-1]
            place = places(first, len(lines), self.seed)
            order = np.argsort(place)
            bucket = (place[order] >> np.uint64(32)) * np.uint64(number) >> np.uint64(32)
            starts = np.flatnonzero(np.diff(bucket, prepend=np.uint64(number)))
            for start, end in pairwise([*starts.tolist(), len(lines)]):
                self._append(int(bucket[start]), lines, place, order[start:end])
            first += len(lines)

    def _append(self, bucket: int, lines: list[bytes], place: Places, chosen: npt.NDArray[np.intp]) -> None:
        with self._path(bucket, "text").open("ab") as file:
            file.write(_picked(lines, chosen))
        with self._path(bucket, "places").open("ab") as file:
            place[chosen].tofile(file)

    def _path(self, bucket: int, kind: str) -> Path:
        return self.folder / f"{kind}.{bucket:05d}"


def _gathered(blocks: Iterable[bytes], limit: int) -> Iterator[bytes]:
    """Blocks joined to such of about `limit` bytes, so that a bucket's file is not opened for a few lines."""
    waiting: list[bytes] = []
    size = 0
    for block in blocks:
        waiting.append(block)
        size += len(block)
        if size >= limit:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def _in_order(text: bytes, place: Places) -> bytes:
    return _picked(text.split(b"\n"), np.argsort(place))


def _picked(lines: list[bytes], numbers: npt.NDArray[np.intp]) -> bytes:
    """The lines with these numbers, each with a line feed; adding it line by line takes twice as long."""
    return b"\n".join([*map(lines.__getitem__, numbers.tolist()), b""])
