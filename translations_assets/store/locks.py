"""Lock files, held through `flock`, so the kernel frees them however their holder ends; shared folders.

A store may lie below a folder that belongs to a group of Unix users: one that its group may write, and that
hands its group on (`chmod g+ws`). What a store makes in it is open to the group, too, whatever the user's
umask: folders as the folder above them, lock files to be written. Contents and records stay read-only for
all; who may write a folder can replace what is in it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

_SHARED = stat.S_ISGID | stat.S_IWGRP
_FILE = stat.S_IRGRP | stat.S_IWGRP
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK  # a link is refused (ELOOP), and a pipe makes nobody wait


def acquire(path: Path) -> int | None:
    """Lock a file, made for the purpose, and return its descriptor; None when another process holds it."""
    while True:
        descriptor = _open(path)
        if not flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
            return None
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # its last holder removed the file between our open and our lock


def is_held(path: Path) -> bool:
    """True if a process holds a lock file alone; nothing is made.

    A process that tries to acquire it in that very moment is refused: two that ask do not see each other.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _PLAIN)
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):  # which can be opened to be read, and locked
        os.close(descriptor)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB):
        return True
    os.close(descriptor)
    return False


def acquire_new(folder: Path, suffix: str = "") -> tuple[Path, int]:
    """Lock a new file of a random name: its path and descriptor.

    A sweep of the folder may hold the file for a moment, to see whether it is abandoned: then another.
    """
    while True:
        path = folder / f"{os.urandom(4).hex()}{suffix}"
        if (descriptor := acquire(path)) is not None:
            return path, descriptor


def acquire_kept(path: Path, *, alone: bool, wait: bool) -> int | None:
    """Hold a lock file that is never removed, alone or shared; None when that would mean waiting.

    The descriptor frees it when it is closed, by any process.
    """
    descriptor = _open(path)
    mode = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    return descriptor if flock(descriptor, mode if wait else mode | fcntl.LOCK_NB) else None


def flock(descriptor: int, mode: int) -> bool:
    """Lock an open file; False, and it is closed, when that would mean waiting."""
    try:
        fcntl.flock(descriptor, mode)
    except BlockingIOError:
        os.close(descriptor)
        return False
    return True


def release(path: Path, descriptor: int) -> None:
    """Remove a held lock file, if that can be done, then free it."""
    with suppress(OSError):
        path.unlink()
    os.close(descriptor)


def _open(path: Path) -> int:
    """A descriptor of a lock file, made when it is not there."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _PLAIN, 0o644)
    except PermissionError as error:
        try:  # another user's, or one that was made read-only: a local disk's locks do not mind
            return os.open(path, os.O_RDONLY | _PLAIN)
        except FileNotFoundError:
            raise error from None
    share_file(descriptor, path.parent)
    return descriptor


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


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
