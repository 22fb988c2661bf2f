"""A cache of checked training configs and their graphs, valid while nothing changes that they depend on.

To check a config and to build its graph takes longer than all else of a short command, most of it for
libraries that it then needs no more. What was made stands under a hash of the config's text and of the files
that make it, told from others as Python tells whether what it has compiled is still true: by size and time of
change. A file that is damaged, another user's, or cannot be written, costs time alone.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from translations_assets.common.own_files import read_own, write_own
from translations_assets.common.settings import is_installed
from translations_assets.common.whole_file import keep_newest
from translations_assets.config.errors import Problem
from translations_assets.graph import written
from translations_assets.graph.graph import Graph
from translations_assets.records.canonical import json_digest
from translations_assets.store.encoding import MALFORMED, seal, unseal

MOST_FILES = 1000
_PACKAGE = Path(__file__).parents[1]
_CODE = (_PACKAGE.name, "pipeline", "requirements")
_BEGUN = time.time_ns()


@dataclass(frozen=True)
class KnownConfig:
    """The result of checking a valid training config and building its graph.

    partition  its key
    notes      what people should know of it
    """

    partition: str
    graph: Graph
    notes: Sequence[Problem]


class KnownConfigs:
    """A cache of training configs, for the code below a folder as it is at first use.

    folder  this user's own; holds a file for each config
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder

    def get(self, *given: Any) -> KnownConfig | None:
        """Return the cached config for all that it is made from, JSON values; None when there is none."""
        with suppress(OSError, *MALFORMED):
            return _read(unseal(read_own(self._path(given))))
        return None

    def add(self, known: KnownConfig, *given: Any) -> None:
        """Keep what is known of a config, unless it names files of this machine, which are checked each time,
        or the code has changed since this process began, which may have made it with the old one.
        """
        if _names_files(known.graph) or self._traces() != self._code or self._is_newer():
            return
        with suppress(OSError, TypeError):  # TypeError: what JSON cannot say, such as a date
            write_own(self._path(given), seal(_written(known)))
            keep_newest(self._folder, MOST_FILES)

    def _path(self, given: Sequence[Any]) -> Path:
        return self._folder / json_digest([sys.version, self._code, given])

    @cached_property
    def _code(self) -> list[list[Any]]:
        return self._traces()

    def _traces(self) -> list[list[Any]]:
        """Size and time of change of every file that a graph may depend on."""
        return [
            [entry.path, status.st_size, status.st_mtime_ns]
            for folder in self._folders()
            for entry in sorted(_files(str(folder)), key=lambda entry: entry.path)
            if (status := entry.stat())
        ]

    def _folders(self) -> list[Path]:
        """The folders of the code; a wheel has all of it in the package."""
        return [_PACKAGE] if is_installed(self._root) else [self._root / name for name in _CODE]

    def _is_newer(self) -> bool:
        return any(changed >= _BEGUN for _, _, changed in self._code)


def _written(known: KnownConfig) -> dict[str, Any]:
    """Convert a config to JSON values, which can be read without running any code of theirs."""
    return {
        "partition": known.partition,
        "graph": written.to_json(known.graph),
        "notes": [astuple(note) for note in known.notes],
    }


def _read(value: Mapping[str, Any]) -> KnownConfig:
    """Convert JSON values back. Raises one of MALFORMED for anything else."""
    notes = [Problem(*note) for note in value["notes"]]
    return KnownConfig(value["partition"], written.from_json(value["graph"]), notes)


def _files(folder: str) -> Iterator[os.DirEntry[str]]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file():
                yield entry
            elif entry.name != "__pycache__":
                yield from _files(entry.path)


def _names_files(graph: Graph) -> bool:
    """True if a graph names files of this machine by URLs; those named by paths cannot be written as JSON."""
    return any("file://" in str(value) for step in graph.steps for value in step.args.values())
