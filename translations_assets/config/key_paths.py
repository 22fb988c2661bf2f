"""Key paths: where a value stands in a config as it was read, and what stands there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

KeyPath: TypeAlias = "tuple[str | int, ...]"
Found: TypeAlias = "Iterator[tuple[KeyPath, str]]"  # what a check finds: where, and what is wrong there


def dotted(path: KeyPath) -> str:
    """A key path for people: `datasets.train[2]`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")


def at(values: Any, path: KeyPath) -> Any:
    """The value at a path; None when there is none."""
    for part in path:
        if isinstance(part, int):
            values = values[part] if isinstance(values, list) and part < len(values) else None
        else:
            values = values.get(part) if isinstance(values, Mapping) else None
    return values


def has(values: Any, path: KeyPath) -> bool:
    """Whether a key is written at a path, if only with nothing behind it."""
    parent = at(values, path[:-1])
    return isinstance(parent, Mapping) and path[-1] in parent


def mapping_at(values: Any, path: KeyPath) -> Mapping[str, Any]:
    """The mapping at a path; an empty one when something else stands there, or nothing."""
    found = at(values, path)
    return found if isinstance(found, Mapping) else {}
