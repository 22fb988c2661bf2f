"""Texts from outside, read with suspicion: other encodings, lines without end, damage, unequal sides.

`pipeline.common.lines` reads what this project wrote; this reads what came from a provider.
"""

import gzip
import zlib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

import zstandard

from pipeline.common.errors import InputError
from pipeline.common.limits import LONGEST_LINE, bounded
from pipeline.common.lines import open_bytes

DAMAGE = (zstandard.ZstdError, zlib.error, gzip.BadGzipFile, EOFError)
# Byte order marks of encodings other than UTF-8; UTF-32's begins as UTF-16's does, so it comes first.
MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def file_lines(path: Path) -> Iterator[str]:
    """The lines of a text file (.zst, .gz or plain), as `stream_lines` reads them."""
    with open_bounded(path) as stream:
        yield from stream_lines(stream, path.name)


def open_bounded(path: Path) -> BinaryIO:
    """The bytes of a file (.zst, .gz or plain); reading raises InputError when it unpacks to far too much."""
    packed = path.stat().st_size
    return bounded(open_bytes(path), path.name, lambda: packed)


def stream_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """The lines of a stream in UTF-8, without line feed, carriage return before it, and byte order mark.

    Memory is bounded by LONGEST_LINE. Raises InputError, with the name and the line, for another encoding, a
    line without end, and damage.
    """
    number = 0
    try:
        while raw := stream.readline(LONGEST_LINE + 1):
            number += 1
            if len(raw) > LONGEST_LINE:
                raise InputError(
                    f"Line {number:,} of {name} is longer than {LONGEST_LINE >> 20} MiB. It is no text with "
                    "a sentence a line."
                )
            yield _decoded(raw, name, number)
    except DAMAGE as error:
        raise InputError(f"{name} is damaged after line {number:,} ({error}). Fetch it again.") from error


def file_pairs(src: Path, trg: Path) -> Iterator[tuple[str, str]]:
    """The pairs of two files; raises InputError when one has more lines than the other."""
    for number, (first, second) in enumerate(zip_longest(file_lines(src), file_lines(trg))):
        if first is None or second is None:
            ended, longer = (src, trg) if first is None else (trg, src)
            raise InputError(
                f"Unequal numbers of lines: {ended} ends after {number:,} lines, {longer} goes on. The files "
                "must be parallel, line by line."
            )
        yield first, second


def _decoded(raw: bytes, name: str, number: int) -> str:
    mark = next((mark for mark in MARKS if number == 1 and raw.startswith(mark)), None)
    if mark is not None:
        raise InputError(f"{name} is in {MARKS[mark]}. Convert it to UTF-8.")
    try:
        line = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise InputError(
            f"Invalid UTF-8 in {name}, line {number:,}: byte 0x{byte:02x} at {error.start}. The file is "
            "damaged or in an older encoding. Convert it to UTF-8, or remove the line."
        ) from error
    return (line.removeprefix("\ufeff") if number == 1 else line).removesuffix("\n").removesuffix("\r")
