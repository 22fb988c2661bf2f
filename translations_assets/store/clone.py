"""Putting a file's contents at another path the cheapest way the file system knows."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from pathlib import Path

_FICLONE = 0x40049409  # linux/fs.h: share the source's extents, copied when one of the two is written
_NO_LINK = {errno.EXDEV, errno.EMLINK, errno.EPERM, errno.EACCES, errno.EOPNOTSUPP}
_NO_REFLINK = {errno.EXDEV, errno.EINVAL, errno.ENOTTY, errno.EOPNOTSUPP, errno.ENOSYS}


def clone(source: Path, target: Path, link: bool) -> None:
    """Reflink, else (with `link`) hard link, else copy.

    With `link`, writing to either may change both: for files that nobody writes any more. Raises OSError.
    """
    if not _reflink(source, target) and not (link and _hard_link(source, target)):
        shutil.copyfile(source, target)


def _reflink(source: Path, target: Path) -> bool:
    """Make the target share the source's extents; False, and no target, when the file system cannot."""
    with source.open("rb") as reading, target.open("xb") as writing:
        try:
            fcntl.ioctl(writing.fileno(), _FICLONE, reading.fileno())
        except OSError as error:
            target.unlink()
            if error.errno in _NO_REFLINK:
                return False
            raise
        return True


def _hard_link(source: Path, target: Path) -> bool:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno in _NO_LINK:
            return False
        raise
    return True
