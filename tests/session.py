"""Things made once in a session of tests, by whichever worker needs them first."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

VARIABLE = "TESTS_SESSION"  # the folder that all workers of a session share
ALIVE = "alive"  # a pipe in it, which is at its end once the session is


def new_folder() -> Path:
    """A new folder that is removed when this process ends."""
    folder, maker = Path(mkdtemp(prefix="tests.")), os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # none of those forked from it
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def begin(folder: Path) -> int:
    """Begin a session in a new folder; it ends when what this returns is closed, or this process ends."""
    os.mkfifo(folder / ALIVE)
    return os.open(folder / ALIVE, os.O_RDWR)


@cache
def session_folder() -> Path:
    """The session's folder; outside of a session one of this process."""
    if VARIABLE in os.environ:
        return Path(os.environ[VARIABLE])
    folder = new_folder()
    begin(folder)
    return folder


def once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder of that name, filled by `make` at the first call of a session; other workers wait meanwhile.

    All tests share it: who changes something there changes a copy.
    """
    folder = session_folder() / name
    made = folder.with_name(f"{name}.made")
    with folder.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # of a worker that failed
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
