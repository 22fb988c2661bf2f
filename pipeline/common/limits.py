"""What a file from outside may unpack to: bytes, and with them time, and what of it is held in memory.

Text packs to a third or a twentieth of its size, repetitive text to a fiftieth. Made-up files, "bombs",
unpack to a thousand or a million times as much. Readers of files from outside take their bounds from here.
"""

import io
from collections.abc import Callable
from typing import BinaryIO, cast

from pipeline.common.errors import InputError

LARGEST_RATIO = 100  # of unpacked to packed bytes
UNASKED = 1 << 23  # bytes that may be unpacked whatever the ratio
LONGEST_LINE = 1 << 26  # bytes; a document of a web crawl can have some megabytes
LARGEST_READ = 1 << 24  # bytes that the reader of an archive may ask for at once: headers, a list of members
MOST_MEMBERS = 100_000  # of an archive
BUFFER = 1 << 20


def most_bytes(packed: int) -> int:
    """How many bytes a file of so many may unpack to."""
    return max(UNASKED, LARGEST_RATIO * packed)


def refuse_bomb(name: str, packed: int, unpacked: int) -> None:
    """Raise InputError when a file has unpacked, or says that it unpacks, to far more than text does."""
    if unpacked > most_bytes(packed):
        raise InputError(
            f"{name}, of {packed:,} bytes, unpacks to {unpacked:,} bytes or more. No text packs that well; "
            "it is not unpacked."
        )


def bounded(stream: BinaryIO, name: str, packed: Callable[[], int]) -> BinaryIO:
    """An unpacked stream that raises InputError when more comes out than `packed()` bytes may hold."""
    return cast(BinaryIO, _AtMostSoMuchAtOnce(_Bounded(stream, name, packed), BUFFER, name))


class _Bounded(io.RawIOBase):
    def __init__(self, stream: BinaryIO, name: str, packed: Callable[[], int]) -> None:
        self._stream, self._name, self._packed = stream, name, packed
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        part = self._stream.read(len(buffer))
        buffer[: len(part)] = part
        self._reach(self._position + len(part))
        return len(part)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence == io.SEEK_CUR:
            offset, whence = self._position + offset, io.SEEK_SET
        if whence == io.SEEK_SET:
            self._reach(offset)  # before the way there is unpacked
        self._position = self._stream.seek(offset, whence)
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        self._stream.close()
        super().close()

    def _reach(self, position: int) -> None:
        refuse_bomb(self._name, self._packed(), position)
        self._position = position


class _AtMostSoMuchAtOnce(io.BufferedReader):
    """Readers of archives ask for as many bytes as the archive says that a header has, and hold them."""

    def __init__(self, raw: io.RawIOBase, size: int, name: str) -> None:
        super().__init__(raw, size)
        self._archive = name

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > LARGEST_READ:
            raise InputError(
                f"{self._archive} says that it has a header of {size:,} bytes, which no archive of text has. "
                "It is not unpacked."
            )
        return super().read(size)
