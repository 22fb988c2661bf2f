"""Standard input, output and error as a command finds them: closed, of few characters, on a full device."""

from __future__ import annotations

import codecs
import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_ESCAPED = "backslashreplace"
_ASCII = "escaped_ascii"


class _Output(io.FileIO):
    """The file behind standard output; it notes the error when nothing can be written."""

    failure: OSError | None = None

    def write(self, data: ReadableBuffer, /) -> int | None:  # type: ignore[override]  # that of typing.IO
        """Write."""
        try:
            return super().write(data)
        except OSError as error:
            _Output.failure = error
            raise


def prepare() -> None:
    """Open every missing stream, and escape characters that its encoding lacks.

    A standard input that is closed is empty; to write to an output that is closed fails, but not to standard
    error, where nothing can be said of it.
    """
    for number, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)  # the lowest number that is free: this one
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is sys.__stdout__:
        sys.stdout = _noting(sys.stdout)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    codecs.register(_own_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=_ASCII if is_ascii else None, errors=_ESCAPED)


def _own_ascii(name: str) -> codecs.CodecInfo | None:
    """ASCII under another name: Typer takes the name ASCII for a mistake, and writes UTF-8 there."""
    if name != _ASCII:
        return None
    ascii = codecs.lookup("ascii")
    return codecs.CodecInfo(
        ascii.encode, ascii.decode, ascii.streamreader, ascii.streamwriter,
        ascii.incrementalencoder, ascii.incrementaldecoder, _ASCII,
    )  # fmt: skip


def _noting(before: io.TextIOWrapper | None) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(1, "w", closefd=False)),
        encoding=before.encoding if before else "utf-8",
        line_buffering=before is not None and before.line_buffering,
    )


def lacks(text: str) -> bool:
    """True if standard output cannot encode some character of a text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return True
    return False


def write_out() -> OSError | None:
    """Write what standard output still holds back; the first error, when something could not be written."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes it at its end
    failure, _Output.failure = _Output.failure, None
    return failure
