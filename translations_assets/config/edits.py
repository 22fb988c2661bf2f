"""Edits of a training config as it was read: an old spelling goes, and today's takes its place.

They are applied to the values that are read, in memory, and by `migrate` to the file's text as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from translations_assets.config.yaml_reader import Document, KeyPath, at, dotted, has


@dataclass(frozen=True)
class Put:
    """A value at a path. It takes the lines, and in a file the spelling, of what stood at `origin`."""

    path: KeyPath
    value: Any
    origin: KeyPath


@dataclass(frozen=True)
class Edit:
    """Removal of the value at `path`, and the values `puts` in its place. `message` is for people.

    An edit that only adds has the path of the section that it concerns, and `goes` is false.
    """

    path: KeyPath
    message: str
    puts: tuple[Put, ...] = ()
    goes: bool = True

    @property
    def replaces_an_item(self) -> bool:
        """True if an item of a list gets another value."""
        is_item = bool(self.path) and isinstance(self.path[-1], int)
        return is_item and [put.path for put in self.puts] == [self.path]


def is_free(values: Any, path: KeyPath) -> bool:
    """True if a value can be put at a path: nothing is there, and only mappings are above."""
    above = (at(values, path[:depth]) for depth in range(len(path)))
    return not has(values, path) and all(section is None or isinstance(section, Mapping) for section in above)


def renamed(values: Any, old: KeyPath, new: KeyPath, why: str) -> Iterator[Edit]:
    """The edit that moves a key, with all below it, to today's location."""
    if has(values, old) and is_free(values, new):
        named = new[-1] if new[:-1] == old[:-1] else dotted(new)
        yield Edit(old, f"{why}; read as {named}", (Put(new, at(values, old), old),))


def dropped(values: Any, path: KeyPath, why: str) -> Iterator[Edit]:
    """The edit that removes a key without a successor."""
    if has(values, path):
        yield Edit(path, why)


def apply(edit: Edit, document: Document) -> None:
    """Change a document's values and lines; what is put must not be there yet."""
    if edit.replaces_an_item:
        at(document.value, edit.path[:-1])[edit.path[-1]] = edit.puts[0].value
        return
    line = document.line(edit.path)
    moved = [(put, _lines_below(document, put.origin)) for put in edit.puts]
    if edit.goes:
        _remove(document, edit.path)
    for put, lines in moved:
        _put(document, put, line)
        document.lines |= {(*put.path, *rest): number for rest, number in lines.items()}


def _lines_below(document: Document, origin: KeyPath) -> dict[KeyPath, int]:
    return {
        path[len(origin) :]: line for path, line in document.lines.items() if path[: len(origin)] == origin
    }


def _remove(document: Document, path: KeyPath) -> None:
    parent, last = at(document.value, path[:-1]), path[-1]
    del parent[last]
    lines = {known: line for known, line in document.lines.items() if known[: len(path)] != path}
    if isinstance(last, int):
        lines = {_closed_up(known, path): line for known, line in lines.items()}
    document.lines.clear()
    document.lines.update(lines)


def _closed_up(path: KeyPath, removed: KeyPath) -> KeyPath:
    """The path of a list's item after one before it was removed."""
    depth, index = len(removed) - 1, removed[-1]
    if len(path) <= depth or path[:depth] != removed[:depth] or path[depth] < index:  # type: ignore[operator]
        return path
    return (*path[:depth], path[depth] - 1, *path[depth + 1 :])  # type: ignore[operator]


def _put(document: Document, put: Put, line: int | None) -> None:
    section: Any = document.value
    for depth, key in enumerate(put.path[:-1]):
        if section.get(key) is None:
            section[key] = {}
            if line is not None:
                document.lines.setdefault(put.path[: depth + 1], line)
        section = section[key]
    section[put.path[-1]] = put.value
