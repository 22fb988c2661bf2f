"""What the rules for old spellings share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from translations_assets.config.edits import Edit, Put, at, has
from translations_assets.config.yaml_reader import KeyPath, dotted


def is_free(values: Any, path: KeyPath) -> bool:
    """Whether something can be put at a path: nothing is there, and nothing but mappings is above."""
    above = (at(values, path[:depth]) for depth in range(len(path)))
    return not has(values, path) and all(section is None or isinstance(section, Mapping) for section in above)


def renamed(values: Any, old: KeyPath, new: KeyPath, why: str) -> Iterator[Edit]:
    """The edit that moves a key, with all below it, to where it stands today."""
    if has(values, old) and is_free(values, new):
        named = new[-1] if new[:-1] == old[:-1] else dotted(new)
        message = f"{why}; read as {named}"
        yield Edit(old, message, (Put(new, at(values, old), old),))


def dropped(values: Any, path: KeyPath, why: str) -> Iterator[Edit]:
    """The edit that takes a key away that has nothing to take its place."""
    if has(values, path):
        yield Edit(path, why)
