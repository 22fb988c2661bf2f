"""Training pairs in compressed blocks: made once, each block read alone, in any order, by any process.

A folder holds pairs.zst, zstd frames of up to BLOCK lines one after another (any zstd reads it as one text),
and blocks.npy, int64 of shape (blocks + 1, 2): the byte at which each frame begins and the lines before it;
the last row is the end of both. A line has two, three or five columns, parted by tabs: source and target;
for aligned text the links of their tokens; for guided alignment the links of SentencePiece pieces that the
line has when no modifier touches it, and `i-j`, the numbers of its last pieces, if it has the same ones
before them without its last characters (see pipeline.train.piece_links).
"""

import os
import tokenize
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
import numpy.typing as npt
import zstandard

from pipeline.common.errors import InputError
from pipeline.common.lines import ZSTD_LEVEL

PAIRS = "pairs.zst"
INDEX = "blocks.npy"
# What numpy raises for a file that is none of its own: it reads the head as an expression of Python.
_NO_NUMBERS = (ValueError, TypeError, OverflowError, EOFError, tokenize.TokenError)
_AGAIN = "Make the pairs again by the script training_pairs."
BLOCK = 128  # lines; what is read together comes out close together, so a block is a small part of a chunk


def compress_block(lines: Sequence[str]) -> bytes:
    """One frame of up to BLOCK lines, for `PairBlockWriter.write_block`; the lines alone decide its bytes."""
    if not 0 < len(lines) <= BLOCK:
        raise ValueError(f"A block has 1 to {BLOCK} lines, not {len(lines)}")
    text = "".join(f"{line}\n" for line in lines).encode()
    if text.count(b"\n") != len(lines):
        raise ValueError(f"A line feed inside a line of the block that begins with {lines[0][:80]!r}")
    return zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True).compress(text)


class PairBlockWriter:
    """Writes a folder of blocks, in order; a context manager.

    Blocks may hold fewer lines than BLOCK: those of a part whose last lines were left out, for instance.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stream = (folder / PAIRS).open("wb")
        self._ends = [(0, 0)]
        self._waiting: list[str] = []

    @property
    def lines(self) -> int:
        """Lines written so far."""
        return self._ends[-1][1] + len(self._waiting)

    def write(self, line: str) -> None:
        """Write one line; BLOCK of them make a block."""
        self._waiting.append(line)
        if len(self._waiting) == BLOCK:
            self._flush()

    def write_block(self, frame: bytes, lines: int) -> None:
        """Write what `compress_block` made of so many lines."""
        self._flush()
        self._stream.write(frame)
        begin, before = self._ends[-1]
        self._ends.append((begin + len(frame), before + lines))

    def __enter__(self) -> "PairBlockWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._flush()
            np.save(self._folder / INDEX, np.array(self._ends, dtype=np.int64))
        self._stream.close()

    def _flush(self) -> None:
        if lines := self._waiting:
            self._waiting = []
            self.write_block(compress_block(lines), len(lines))


class PairBlocks:
    """A folder of blocks, read by any number of processes; the index stays on disk until it is asked for."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PAIRS
        self._index = _read_index(folder / INDEX)
        self._file = os.open(self._path, os.O_RDONLY)

    @classmethod
    def open(cls, folder: Path) -> "PairBlocks":
        """Open a folder; raises InputError when its index is damaged, or is not that of the pairs."""
        for name in (PAIRS, INDEX):
            if not (folder / name).exists():
                raise InputError(f"{folder} holds no training pairs: {name} is missing")
        blocks = cls(folder)
        size, expected = (folder / PAIRS).stat().st_size, int(blocks._index[-1, 0])
        if size != expected:
            raise InputError(f"{folder / PAIRS} has {size:,} bytes, its index counts {expected:,}. {_AGAIN}")
        return blocks

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return len(self._index) - 1

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return int(self._index[-1, 1])

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of lines of each block."""
        return np.diff(self._index[:, 1])

    def read(self, number: int) -> list[str]:
        """The lines of a block, counted from 0; raises InputError when it is damaged."""
        (begin, first), (end, last) = self._index[number : number + 2].tolist()
        try:
            text = zstandard.ZstdDecompressor().decompress(os.pread(self._file, end - begin, begin))
            lines = text.decode().split("\n")[:-1]
        except (zstandard.ZstdError, UnicodeDecodeError, MemoryError) as error:  # of a damaged frame's size
            raise InputError(f"{self._path} is damaged in block {number} ({error}). {_AGAIN}") from error
        if len(lines) != last - first:
            raise InputError(
                f"{self._path}, block {number}: {len(lines)} lines, the index has {last - first}. {_AGAIN}"
            )
        return lines

    def close(self) -> None:
        """Close the file; the index may still be asked."""
        os.close(self._file)


def _read_index(path: Path) -> npt.NDArray[np.int64]:
    """The index of a folder; raises InputError when it cannot be one."""
    try:
        index: npt.NDArray[np.int64] = np.load(path, mmap_mode="r", allow_pickle=False)
    except _NO_NUMBERS as error:
        raise InputError(f"{path} is damaged ({error}). {_AGAIN}") from error
    is_table = index.dtype == np.int64 and index.ndim == 2 and index.shape[1] == 2 and len(index) > 0
    if not is_table or index[0].any() or (np.diff(index, axis=0) <= 0).any():
        raise InputError(f"{path} is no index of training pairs, or is damaged. {_AGAIN}")
    return index
