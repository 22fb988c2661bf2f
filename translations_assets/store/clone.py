"""Putting a file's contents at another path the cheapest way the file system knows."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from pathlib import Path
from typing import BinaryIO

from translations_assets.records.manifest import Blob
from translations_assets.store.digest import PIECE, copy_file, open_plain

READ_ONLY = 0o444
_FICLONE = 0x40049409  # linux/fs.h: share the source's extents, copied when one of the two is written
_NO_LINK = {errno.EXDEV, errno.EMLINK, errno.EPERM, errno.EACCES, errno.EROFS, errno.EOPNOTSUPP}
_NO_REFLINK = {errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EOPNOTSUPP, errno.ENOSYS}


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
                shutil.copyfileobj(reading, writing, PIECE)
                return
        target.unlink()
        if not _hard_link(source, target):
            clone(source, target, link=False)


def place(source: Path, target: Path, link: bool) -> Blob:
    """The same, read-only; the digest of what then stands at the target.

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
