"""Stores that several Unix users share: below a folder that belongs to their group.

Such a folder may be written by its group, and hands its group on (`chmod g+ws`). What a store makes in it is
open to the group, too, whatever the user's umask: folders as the folder above them, lock files to be written.
Contents and records stay read-only for everybody; who may write a folder can replace what is in it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_SHARED = stat.S_ISGID | stat.S_IWGRP
_FILE = stat.S_IRGRP | stat.S_IWGRP


def share_folder(folder: Path) -> None:
    """Give a folder of our own the rights of a shared folder above it. Raises OSError."""
    above, ours = os.stat(folder.parent), os.lstat(folder)
    if _is_shared(above) and not _is_shared(ours) and ours.st_uid == os.geteuid():
        os.chmod(folder, stat.S_IMODE(above.st_mode))


def share_file(descriptor: int, folder: Path) -> None:
    """Let the group of a shared folder write an open file of our own. Raises OSError."""
    if _is_shared(os.stat(folder)):
        ours = os.fstat(descriptor)
        if ours.st_mode & _FILE != _FILE and ours.st_uid == os.geteuid():
            os.fchmod(descriptor, stat.S_IMODE(ours.st_mode) | _FILE)


def _is_shared(found: os.stat_result) -> bool:
    return found.st_mode & _SHARED == _SHARED
