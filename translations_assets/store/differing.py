"""The first difference between two files, in words."""

from __future__ import annotations

import gzip
import io
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple, cast

import zstandard

_PIECE = 1 << 16  # bytes
_SHOWN = 60  # bytes of a line, on each side of what differs


class _Difference(NamedTuple):
    """A place where two files differ: a byte and a line, both from 1, and what stands around it in each."""

    byte: int
    line: int
    around: tuple[bytes, bytes]


def first_difference(before: Path, after: Path) -> str:
    """Name the first line of texts, compressed or not, that differs; of other files, the first byte.

    >>> first_difference(before, after)
    "line 2 is 'a dog', and was 'a cat'"
    """
    try:
        with ExitStack() as stack:
            opened = [stack.enter_context(_unpacked(path)) for path in (before, after)]
            place = _first(*opened)
    except (OSError, EOFError, zstandard.ZstdError):  # not what its name says
        return _first_byte(before, after)
    if place is None:
        return f"its contents are the same, and compressed in another way: {_first_byte(before, after)}"
    if any(b"\0" in text for text in place.around):  # no text
        return _first_byte(before, after)
    was, now = (repr(text.decode(errors="replace")) for text in place.around)
    return f"line {place.line:,} is {now}, and was {was}"


def _first_byte(before: Path, after: Path) -> str:
    with before.open("rb") as one, after.open("rb") as other:
        place = _first(one, other)
    sizes = f"{after.stat().st_size:,} bytes, and were {before.stat().st_size:,}"
    return f"byte {place.byte:,} differs ({sizes})" if place else "nothing differs"


def _unpacked(path: Path) -> IO[bytes]:
    if path.suffix == ".zst":
        return io.BufferedReader(zstandard.open(path, "rb"))
    return cast("IO[bytes]", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _first(one: IO[bytes], other: IO[bytes]) -> _Difference | None:
    """The first place at which two files differ."""
    read, line, begun = 0, 1, b""
    while True:
        pieces = one.read(_PIECE), other.read(_PIECE)
        if pieces[0] != pieces[1]:
            break
        if not pieces[0]:
            return None
        read, line = read + len(pieces[0]), line + pieces[0].count(b"\n")
        begun = (begun + pieces[0])[-_PIECE:].rpartition(b"\n")[2]
    equal = next(
        (at for at, (mine, its) in enumerate(zip(*pieces, strict=False)) if mine != its),
        min(map(len, pieces)),
    )
    same = pieces[0][:equal]
    begun = (begun + same).rpartition(b"\n")[2][-_SHOWN:]
    one_around, other_around = (begun + piece[equal:].partition(b"\n")[0][:_SHOWN] for piece in pieces)
    return _Difference(read + equal + 1, line + same.count(b"\n"), (one_around, other_around))
