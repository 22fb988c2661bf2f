"""Contents of files: their SHA-256, and copies of them, made the cheapest way the file system knows."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, NamedTuple

from translations_assets.common.errors import StoreError
from translations_assets.records.manifest import Blob

READ_BYTES = 1 << 20
MOST_IN_MEMORY = 1 << 29  # bytes; records and parts of logs have some MB, contents that are read at once, too
NO_FILE = Blob("", 0)  # the digest of a link, a folder, a pipe …
READ_ONLY = 0o444
_DIGEST = re.compile("[0-9a-f]{64}")
_FICLONE = 0x40049409  # linux/fs.h: share the source's extents, copied when one of the two is written
_NO_LINK = {errno.EXDEV, errno.EMLINK, errno.EPERM, errno.EACCES, errno.EROFS, errno.EOPNOTSUPP}
_NO_REFLINK = {errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EOPNOTSUPP, errno.ENOSYS}
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not make us wait


class Digests(NamedTuple):
    """SHA-256 and size; the CRC-32C in base 64 where a service compares it, else empty."""

    blob: Blob
    crc32c: str = ""


class NotPlainError(OSError):
    """A symbolic link, a folder, a pipe … is in the location of a file."""


def changed(path: Path) -> StoreError:
    """The error to raise for a file whose contents are no longer those that were measured."""
    return StoreError(f"{path} changed while it was being stored. Run again when nothing writes it.")


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


def make_durable(path: Path) -> None:
    """Make a file's contents, or a folder's entries, survive a power cut. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest_bytes(data: bytes) -> Blob:
    """Digest and size of bytes in memory."""
    return Blob(hashlib.sha256(data).hexdigest(), len(data))


def digest_of_name(name: str) -> bytes | None:
    """The SHA-256 that a text, such as the name of a file of contents, says; None when it says none."""
    return bytes.fromhex(name) if _DIGEST.fullmatch(name) else None


def digest_file(path: Path) -> Blob:
    """Digest and size of a file. Raises NotPlainError, OSError."""
    with open(open_plain(path), "rb") as file:
        return copy_file(file, None)


def copy_file(source: BinaryIO, target: BinaryIO | None) -> Blob:
    """Copy one open file to another (if any); digest and size of what was copied."""
    return copy_pieces(iter(lambda: source.read(READ_BYTES), b""), target)


def copy_pieces(pieces: Iterable[bytes], target: BinaryIO | None = None) -> Blob:
    """Write pieces to an open file (if any); digest and size of them all."""
    sha256, size = hashlib.sha256(), 0
    for piece in pieces:
        sha256.update(piece)
        size += len(piece)
        if target is not None:
            target.write(piece)
    return Blob(sha256.hexdigest(), size)


def clone(source: Path, target: Path, link: bool) -> None:
    """Reflink, else (with `link`) hard link, else copy, to a new file.

    With `link`, writing to either may change both: for files that are not written any more. Raises OSError,
    NotPlainError for a source that is a symbolic link, or no file.
    """
    with open(open_plain(source), "rb") as reading:
        with target.open("xb") as writing:
            if _reflink(reading, writing):
                return
            if not link:
                shutil.copyfileobj(reading, writing, READ_BYTES)
                return
        target.unlink()
        if not _hard_link(source, target):
            clone(source, target, link=False)


def place(source: Path, target: Path, link: bool) -> Blob:
    """`clone`, read-only; the digest of what then stands at the target.

    A hard link is made to a read-only file only, so that no mode is ever changed but that of a new copy: the
    file may be another user's.
    """
    clone(source, target, link and stat.S_IMODE(os.lstat(source).st_mode) == READ_ONLY)
    with open(open_plain(target), "rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) != READ_ONLY:
            os.fchmod(file.fileno(), READ_ONLY)
        return copy_file(file, None)


def _reflink(source: BinaryIO, target: BinaryIO) -> bool:
    """Make the target share the source's extents; False when the file system cannot."""
    try:
        fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
    except OSError as error:
        if error.errno in _NO_REFLINK:
            return False
        raise
    return True


def _hard_link(source: Path, target: Path) -> bool:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno in _NO_LINK:
            return False
        raise
    return True
