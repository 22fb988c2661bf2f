"""Text files with one sentence a line: .zst, .gz or plain, UTF-8, ended by a line feed.

Only U+000A ends a line. Python's universal newlines and `str.splitlines` would also break at carriage
returns, U+2028 and others, and so shift the two sides of a corpus against each other.
"""

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import zstandard

from pipeline.common.errors import InputError

# One thread count and one level for every writer: zstd's bytes differ between its single-thread and
# multi-thread modes, but not between numbers of threads.
ZSTD_LEVEL = 3
ZSTD_THREADS = 2
BUFFER = 1 << 20
COMPRESSED_CHUNK = (
    1 << 10
)  # bytes; a made-up file unpacks them to 32 MiB at most, a block of 128 KiB for each four


class _ZstdReader(io.RawIOBase):
    """Decompressed bytes of one or more zstd frames; EOFError when the last frame is cut off.

    The library's own stream reader takes a cut-off frame for the end of the text and says nothing. InputError
    for a frame that would take more memory than the library allows.
    """

    def __init__(self, raw: BinaryIO, name: str) -> None:
        self._raw, self._name = raw, name
        self._frame = zstandard.ZstdDecompressor().decompressobj()
        self._text = memoryview(b"")
        self._inside = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        while not self._text:
            compressed = (self._frame.unused_data if self._frame.eof else b"") or self._raw.read(
                COMPRESSED_CHUNK
            )
            if not compressed:
                return self._end()
            self._text = memoryview(self._decompress(compressed))
        size = min(len(buffer), len(self._text))
        buffer[:size] = self._text[:size]
        self._text = self._text[size:]
        return size

    def _decompress(self, compressed: bytes) -> bytes:
        if self._frame.eof:
            self._frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            text = self._frame.decompress(compressed)
        except zstandard.ZstdError as error:
            if "too much memory" not in str(error):
                raise
            raise InputError(
                f"{self._name} is packed with a window of more than 128 MiB, as by zstd --long=28. Pack it "
                "again without --long."
            ) from error
        self._inside = not self._frame.eof
        return text

    def _end(self) -> int:
        if self._inside:
            raise EOFError("the compressed text is cut off")
        return 0

    def close(self) -> None:
        self._raw.close()
        super().close()


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed according to its suffix (.zst, .gz, else plain)."""
    if path.suffix == ".zst":
        return cast(BinaryIO, io.BufferedReader(_ZstdReader(path.open("rb"), str(path)), BUFFER))
    if path.suffix == ".gz":
        return cast(BinaryIO, gzip.open(path, "rb"))
    return path.open("rb", buffering=BUFFER)


def decompress_zstd(raw: io.RawIOBase, name: str) -> BinaryIO:
    """The bytes in a stream of zstd frames; reading raises EOFError when the last frame is cut off."""
    return cast(BinaryIO, io.BufferedReader(_ZstdReader(cast(BinaryIO, raw), name), BUFFER))


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file without their line feed, in constant memory.

    A byte order mark at the start and a carriage return at the end of a line are dropped.
    Raises InputError with file and line number for invalid UTF-8, and for a damaged compressed file, and with
    the file for one that takes too much memory to unpack.
    """
    number = 0
    try:
        with open_bytes(path) as stream:
            for number, raw in enumerate(stream, start=1):
                line = raw.decode("utf-8")
                if number == 1:
                    line = line.removeprefix("\ufeff")
                yield line.removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise InputError(
            f"Invalid UTF-8 in {path}, line {number}: {error.reason} at byte {error.start}. "
            "Convert the file to UTF-8, or remove the line."
        ) from error
    except (zstandard.ZstdError, zlib.error, gzip.BadGzipFile, EOFError) as error:
        raise InputError(f"{path} is damaged after line {number} ({error}). Fetch it again.") from error


def count_lines(path: Path) -> int:
    """Number of lines in a text file; a last line without a line feed counts."""
    return sum(1 for _ in read_lines(path))


def zip_lines(*paths: Path) -> Iterator[tuple[str, ...]]:
    """Yield the n-th lines of several files together; raises InputError when one file ends before another."""
    streams = [read_lines(path) for path in paths]
    number = 0
    while True:
        lines = [next(stream, None) for stream in streams]
        if all(line is not None for line in lines):
            number += 1
            yield tuple(cast(Sequence[str], lines))
            continue
        if any(line is not None for line in lines):
            ended = [str(path) for path, line in zip(paths, lines, strict=True) if line is None]
            longer = [str(path) for path, line in zip(paths, lines, strict=True) if line is not None]
            raise InputError(
                f"Unequal numbers of lines: {', '.join(ended)} ends after {number:,} lines, "
                f"{', '.join(longer)} goes on. The files must be parallel, line by line."
            )
        return


class LineWriter:
    """Writes lines to a .zst, .gz or plain file; a context manager. The bytes depend on the lines alone."""

    def __init__(self, path: Path) -> None:
        self.lines = 0
        self._stack = ExitStack()
        raw = self._stack.enter_context(path.open("wb"))
        if path.suffix == ".zst":
            zstd = zstandard.ZstdCompressor(level=ZSTD_LEVEL, threads=ZSTD_THREADS, write_checksum=True)
            self._stream = cast(BinaryIO, self._stack.enter_context(zstd.stream_writer(raw, closefd=False)))
        elif path.suffix == ".gz":
            zipped = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
            self._stream = cast(BinaryIO, self._stack.enter_context(zipped))
        else:
            self._stream = raw

    def write(self, line: str) -> None:
        """Write one line; it must not hold a line feed itself."""
        if "\n" in line:
            raise ValueError(f"A line feed inside line {self.lines + 1}: {line[:80]!r}")
        self._stream.write(line.encode("utf-8") + b"\n")
        self.lines += 1

    def __enter__(self) -> "LineWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


def write_lines(path: Path, lines: Iterable[str]) -> int:
    """Write lines to a new file and return how many there were."""
    with LineWriter(path) as writer:
        for line in lines:
            writer.write(line)
    return writer.lines


def concatenate(parts: Sequence[Path], output: Path) -> list[int]:
    """Write files of lines one after another; returns how many lines each has."""
    sizes = []
    with LineWriter(output) as writer:
        for part in parts:
            before = writer.lines
            for line in read_lines(part):
                writer.write(line)
            sizes.append(writer.lines - before)
    return sizes
