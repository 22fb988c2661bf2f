"""A cache of values that are computed by this code, or from it, valid while no file of the code changes.

It holds what scripts' code is in keys, and the graphs of training configs: computing them takes longer than
all else of a short command (decision 35 has the figures). A value's file is named by a hash of everything
that it is computed from. Files of the code are told from others by size and times of change. A file that is
damaged, another user's, or cannot be written, costs time alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from translations_assets.common.own_files import read_own, write_own
from translations_assets.common.whole_file import keep_newest
from translations_assets.keys.accepted_files import accepted_files
from translations_assets.records.canonical import json_digest
from translations_assets.records.encoding import MALFORMED, seal, unseal

MOST_FILES = 1000  # of scripts or configs, in a few states of the code
_PACKAGE = Path(__file__).parents[1]
_BEGUN = time.time_ns()


class Remembered:
    """Values that were computed for the code below a folder, as it is when this is first asked.

    folder  this user's own; holds a file for each value. None: nothing is remembered
    """

    def __init__(self, root: Path, folder: Path | None) -> None:
        self._root, self._folder = root, folder

    def get(self, *given: Any) -> Any:
        """Return the value that was computed from some JSON values; None when there is none."""
        if self._folder is None:
            return None
        with suppress(OSError, *MALFORMED):
            return unseal(read_own(self._folder / self._name(given)))["value"]
        return None

    def add(self, value: Any, *given: Any) -> None:
        """Keep a JSON value, unless the code has changed since this process began: the code before may have
        computed it.
        """
        if self._folder is None or self._is_newer or self._find_files() != self._files:
            return
        with suppress(OSError, TypeError):  # TypeError: it is computed from what JSON cannot say, as a date
            write_own(self._folder / self._name(given), seal({"value": value}))
            keep_newest(self._folder, MOST_FILES)

    def once(self, compute: Callable[[], Any], *given: Any) -> Any:
        """Return a JSON value, remembered or computed now."""
        value = self.get(*given)
        if value is None:
            value = compute()
            self.add(value, *given)
        return value

    def _name(self, given: tuple[Any, ...]) -> str:
        return json_digest([self._state, *given])

    @cached_property
    def _state(self) -> str:
        """A digest of all that counts for every value."""
        system = os.uname()
        return json_digest([sys.version, system.release, system.version, system.machine, self._files])

    @cached_property
    def _files(self) -> list[list[Any]]:
        return self._find_files()

    @cached_property
    def _is_newer(self) -> bool:
        """True if a file is younger than this process, which may have imported the one before."""
        return any(changed >= _BEGUN for _, *changes in self._files for changed in changes[1:])

    def _find_files(self) -> list[list[Any]]:
        """Every file that a value may depend on, and every folder, as these can be imported."""
        found = [_look(str(path)) for path in accepted_files(self._root)]
        for top in (_PACKAGE, self._root / "pipeline", self._root / "requirements"):
            for folder, folders, files in os.walk(top):
                folders[:] = sorted(set(folders) - {"__pycache__"})
                found.append([folder])
                found += [_look(f"{folder}/{name}") for name in sorted(files)]
        return found


def _look(path: str) -> list[Any]:
    """Return what shows whether a file has changed."""
    with suppress(OSError):
        status = os.stat(path)
        return [path, status.st_size, status.st_mtime_ns, status.st_ctime_ns]
    return [path]
