"""Text files read and written in blocks of whole lines, for scripts that work on many lines at once.

A line means what it means in pipeline.common.lines.
"""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NoReturn, cast

import numpy as np
import numpy.typing as npt
import zstandard

from pipeline.common.lines import LineWriter, count_lines, open_bytes

# What is made from a block stays below the 128 KiB from which on glibc asks the kernel for memory each time,
# and in a processor's cache: larger blocks take up to half as much time again.
BLOCK = 1 << 15


def read_blocks(path: Path) -> Iterator[bytes]:
    """Yield the text of a file in blocks of about 32 KB, each of whole lines that end with a line feed.

    As `read_lines` does, drops a byte order mark and carriage returns at the ends of lines; UTF-8 is not
    checked. A longer line makes a longer block. Raises InputError for a damaged compressed file.
    """
    try:
        for number, block in enumerate(_whole_lines(path)):
            text = block.replace(b"\r\n", b"\n") if b"\r" in block else block
            yield text if number else text.removeprefix(codecs.BOM_UTF8)
    except (zstandard.ZstdError, zlib.error, gzip.BadGzipFile, EOFError):
        fail(path)


def fail(path: Path) -> NoReturn:
    """Raise the InputError of `read_lines` for a file that cannot be read: it names the line."""
    count_lines(path)
    raise AssertionError(f"{path} could not be read at first, and then it could")


def line_ends(block: bytes) -> npt.NDArray[np.int64]:
    """Where the lines of a block end: the positions after their line feeds."""
    return np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")) + 1


def kept_lines(block: bytes, ends: npt.NDArray[np.int64], kept: npt.NDArray[np.bool_]) -> bytes:
    """The lines of a block that are to be kept, given where all end; runs of them are copied at once."""
    edges = np.flatnonzero(np.diff(kept, prepend=False, append=False))
    starts = np.concatenate(([0], ends))
    begins, stops = starts[edges[::2]].tolist(), starts[edges[1::2]].tolist()
    return b"".join([block[begin:stop] for begin, stop in zip(begins, stops, strict=True)])


class BlockWriter(LineWriter):
    """A LineWriter that takes many lines at a time; the bytes do not depend on where blocks end."""

    def write_block(self, block: bytes) -> None:
        """Write lines that each end with a line feed."""
        self._stream.write(block)
        self.lines += int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == ord("\n")))


def _whole_lines(path: Path) -> Iterator[bytes]:
    parts: list[bytes] = []
    size = 0
    with cast(BufferedReader, open_bytes(path)) as stream:
        # read1 hands over what is decompressed already: read would copy it into a block once more.
        while part := stream.read1(BLOCK):
            size += len(part)
            if size >= BLOCK and (end := part.rfind(b"\n") + 1):
                yield b"".join((*parts, part[:end]))
                parts, part = [], part[end:]
                size = len(part)
            parts.append(part)
    if rest := b"".join(parts):
        yield rest if rest.endswith(b"\n") else rest + b"\n"
