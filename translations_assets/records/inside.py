"""Names that others wrote, in a store, an archive or a manifest: as paths, they stay inside their folder."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath
from typing import TypeVar

LONGEST = 255  # bytes of a file's name, on every file system in use
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

P = TypeVar("P", bound=PurePath)


def inside(folder: P, name: str) -> P:
    """The path of a file below a folder, by a name (`a`, `a/b`) from elsewhere.

    Raises ValueError for a name that could lead anywhere else: by `..`, from the root, or, on this machine,
    through a symbolic link below the folder; the file itself must be none either.
    """
    path = folder / check_name(name)
    if isinstance(path, Path) and (link := first_link(folder, path)):
        raise ValueError(f"{link} is a symbolic link, and none is followed there")
    return path


def check_name(name: object) -> str:
    """The name, when it is the plain relative path of a file. Raises ValueError."""
    if not isinstance(name, str) or _CONTROL.search(name):
        raise ValueError(f"{name!a:.80} is no file name")
    for part in name.split("/"):
        if part in ("", ".", ".."):
            raise ValueError(f"the name {name!r:.80} leads out of its folder")
        if len(part.encode()) > LONGEST:
            raise ValueError(f"the name {name!r:.80} … is longer than a file's name can be")
    return name


def first_link(folder: PurePath | str, path: PurePath | str) -> str:
    """The topmost symbolic link on the way from a folder (left out) to a path below it; empty without one."""
    way, link = str(path), ""
    above = f"{folder}/"
    while way.startswith(above):
        if os.path.islink(way):
            link = way
        way = os.path.dirname(way)
    return link
