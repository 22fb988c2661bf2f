"""SHA-256 of files and of what is copied from one to another, in pieces that stay small."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple

from translations_assets.records.manifest import Blob

PIECE = 1 << 20
NO_FILE = Blob("", 0)  # the digest of a link, a folder, a pipe …
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not make us wait


class Digests(NamedTuple):
    """SHA-256 and size; the CRC-32C in base 64 where a service compares it, else empty."""

    blob: Blob
    crc32c: str = ""


class NotPlainError(OSError):
    """A symbolic link, a folder, a pipe … stands where a file should."""


def open_plain(path: Path | str) -> int:
    """A descriptor of a file, to read; no symbolic link is followed. Raises NotPlainError, OSError."""
    try:
        descriptor = os.open(path, _PLAIN)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, a socket
            raise NotPlainError(error.errno, "it is no plain file", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlainError(errno.ELOOP, "it is no plain file", str(path))
    return descriptor


def digest_bytes(data: bytes) -> Blob:
    """Digest and size of bytes in memory."""
    return Blob(hashlib.sha256(data).hexdigest(), len(data))


def digest_file(path: Path) -> Blob:
    """Digest and size of a file. Raises NotPlainError, OSError."""
    with open(open_plain(path), "rb") as file:
        return copy_file(file, None)


def copy_file(source: BinaryIO, target: BinaryIO | None) -> Blob:
    """Copy one open file to another (if any); digest and size of what was copied."""
    sha256, size = hashlib.sha256(), 0
    while piece := source.read(PIECE):
        sha256.update(piece)
        size += len(piece)
        if target is not None:
            target.write(piece)
    return Blob(sha256.hexdigest(), size)
