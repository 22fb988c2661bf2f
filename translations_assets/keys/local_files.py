"""Contents of files of this machine that training configs name: their digests, which are part of keys.

A digest is remembered, with size and times that show whether the file has changed. So a large file is read
once, and results of a file that is gone are still found.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from translations_assets.common.errors import GraphError
from translations_assets.common.own_files import read_own, write_own

Look: TypeAlias = "list[int]"  # size, time of change, inode

SETTLED_SECONDS = (
    2.0  # a file changed later than that before its reading may change again within a clock's tick
)
MOST_REMEMBERED = 10_000


class FileDigests:
    """Digests of files by their paths. Safe for use by several threads.

    memory  the file in which they are remembered, this user's own; None: by this process alone
    """

    def __init__(self, memory: Path | None = None) -> None:
        self._memory = memory
        self._lock = threading.Lock()

    def digest(self, path: str) -> str:
        """The SHA-256 of a file; of a file that is gone, the last known one.

        Raises GraphError when it cannot be read, and nothing is known of it.
        """
        with self._lock:
            look, known = _look(path), self._known.get(path)
            if known and (look is None or known[0] == look):
                return known[1]
            if look is None:
                raise GraphError(f"The training config names the file {path}, which is not there.")
            digest = _read(path)
            if _look(path) == look and time.time() - look[1] / 1e9 > SETTLED_SECONDS:
                self._remember(path, look, digest)
            return digest

    def is_known(self, path: str) -> bool:
        """True if the file is there, or its last digest is known."""
        return _look(path) is not None or path in self._known

    @cached_property
    def _known(self) -> dict[str, tuple[Look, str]]:
        if self._memory is None:
            return {}
        try:
            values = json.loads(read_own(self._memory))
            return {path: (list(look), str(digest)) for path, (look, digest) in values.items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}  # it is a memory, no more

    def _remember(self, path: str, look: Look, digest: str) -> None:
        self._known[path] = look, digest
        if self._memory is None:
            return
        newest: Mapping[str, tuple[Look, str]] = dict([*self._known.items()][-MOST_REMEMBERED:])
        with suppress(OSError):
            self._memory.parent.mkdir(parents=True, exist_ok=True)
            write_own(self._memory, json.dumps(newest, ensure_ascii=False, indent=1) + "\n")


def _look(path: str) -> Look | None:
    """Return what shows whether a file has changed; None when there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns, found.st_ino] if stat.S_ISREG(found.st_mode) else None


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise GraphError(
            f"The training config names the file {path}, which cannot be read: {error}"
        ) from error
