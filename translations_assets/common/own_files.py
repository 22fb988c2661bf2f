"""Files that this program keeps for one user, and trusts: nobody else may have written them.

Cached facts about code, configs and your own files decide which results count. So they are in a folder that
belongs to the user alone. Files that another user has put there, or could have changed, are not read.
"""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path

from translations_assets.common.whole_file import write_whole

_MOST_BYTES = 1 << 28  # no memory is larger; a file without an end would be read for ever
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not make us wait


def read_own(path: Path) -> bytes:
    """Read a file that only this user could have written.

    Raises FileNotFoundError, and OSError for a file that cannot be read or is not trusted (with one warning).
    """
    descriptor = os.open(path, _PLAIN)
    if why := _foreign(os.stat(path.parent), os.fstat(descriptor)):
        os.close(descriptor)
        _say(path.parent, why)
        raise PermissionError(f"{path} is not read: {why}")
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def write_own(path: Path, contents: str | bytes) -> None:
    """Write a file atomically, which other users can neither read nor change.

    A missing folder is made, open to this user alone. Raises OSError, also for the folder of another user.
    """
    folder = path.parent
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=stat.S_IRWXU, exist_ok=True)
    if why := _of_another(os.stat(folder), "folder"):
        _say(folder, why)
        raise PermissionError(f"{path} is not written: {why}")
    write_whole(path, contents, mode=stat.S_IRUSR | stat.S_IWUSR)


def _foreign(folder: os.stat_result, file: os.stat_result) -> str:
    """Explain why a file is not trusted; empty when it is."""
    if not stat.S_ISREG(file.st_mode) or file.st_size > _MOST_BYTES:
        return f"a file in it is no plain file of at most {_MOST_BYTES >> 20} MB"
    if file.st_mode & _OTHERS_WRITE:
        return f"other users may write a file in it (mode {stat.S_IMODE(file.st_mode):o})"
    return _of_another(folder, "folder") or _of_another(file, "file")


def _of_another(found: os.stat_result, name: str) -> str:
    own = os.geteuid()
    return (
        f"a {name} of it belongs to the user {found.st_uid}, and you are {own}" if found.st_uid != own else ""
    )


@cache
def _say(folder: Path, why: str) -> None:
    import logging

    logging.getLogger("translations_assets.state").warning(
        "What is kept in %s is not used: %s. Commands take longer. Remove that folder, or let "
        "TRANSLATIONS_STATE name one of your own.",
        folder,
        why,
    )
