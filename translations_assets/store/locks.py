"""Lock files: held through `flock`, so the kernel frees them however their holder ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def take(path: Path) -> int | None:
    """Lock a file, made for the purpose, and return its descriptor; None when somebody else holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        if _is_at(descriptor, path):
            return descriptor
        os.close(descriptor)  # its last holder removed the file between our open and our lock


def release(path: Path, descriptor: int) -> None:
    """Remove a held lock file, then free it."""
    path.unlink(missing_ok=True)
    os.close(descriptor)


@contextmanager
def holding(path: Path) -> Iterator[int | None]:
    """Hold a lock file and remove it at the end; None, at once, when somebody else holds it."""
    descriptor = take(path)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            release(path, descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False
