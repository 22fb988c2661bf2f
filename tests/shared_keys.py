"""One maker of keys a process for this repository's code, for as long as its files are as they were.

Most of what a command computes before its first step is the normal form of the scripts' code.
"""

from __future__ import annotations

from copy import copy
from functools import cache
from pathlib import Path
from typing import TypeAlias

from translations_assets import project
from translations_assets.config.load import load_config
from translations_assets.graph.stage import build_graph
from translations_assets.keys.key import KeyMaker
from translations_assets.keys.local_files import FileDigests
from translations_assets.stages import STAGES

_ROOT = Path(__file__).parents[1]
_Files: TypeAlias = tuple[tuple[str, int, int], ...]


def share_keys() -> None:
    """From now on projects take the maker of keys from here, in this process and those forked from it."""
    vars(project)["KeyMaker"] = _keys


def compute_keys(training_config: Path) -> None:
    """Have what the steps of a training config need computed beforehand."""
    keys = _keys(_ROOT)
    for step in build_graph(load_config(training_config), STAGES).steps:
        keys.recipe(step)


def _keys(root: Path, local: FileDigests | None = None, memory: Path | None = None) -> KeyMaker:
    if root != _ROOT:
        return KeyMaker(root, local, memory)
    keys = copy(_shared(_files()))
    keys._files = local or keys._files
    return keys


@cache
def _shared(files: _Files) -> KeyMaker:
    keys = KeyMaker(_ROOT)
    _ = keys._code, keys._resolve  # made now, so that copies share them
    return keys


def _files() -> _Files:
    """Files that keys may depend on: path, size and time of the last change in nanoseconds."""
    folders = [_ROOT / "pipeline", _ROOT / "requirements"]
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.suffix != ".pyc"]
    found = [(str(file), file.stat()) for file in files]
    return tuple((path, status.st_size, status.st_mtime_ns) for path, status in found)
