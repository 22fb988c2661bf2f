"""Values of JSON that others wrote, as what they ought to be; ValueError says what they are instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

MOST = 1 << 63  # no size, time or count is greater
_SHA256 = re.compile(r"[0-9a-f]{64}")

T = TypeVar("T")


def text(value: object) -> str:
    """A string."""
    if not isinstance(value, str):
        raise ValueError(f"{_short(value)} is no text")
    return value


def sha256(value: object) -> str:
    """A SHA-256 in hexadecimal digits."""
    if not isinstance(value, str) or not _SHA256.fullmatch(value):
        raise ValueError(f"{_short(value)} is no SHA-256")
    return value


def count(value: object) -> int:
    """A whole number that is not negative."""
    if type(value) is not int or not 0 <= value < MOST:
        raise ValueError(f"{_short(value)} is no count")
    return value


def number(value: object) -> float:
    """A number that is not negative, nor infinite."""
    if type(value) not in (int, float) or not 0 <= value < MOST:  # type: ignore[operator]
        raise ValueError(f"{_short(value)} is no number of things, seconds or bytes")
    return value  # type: ignore[return-value]


def flag(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{_short(value)} is neither true nor false")
    return value


def mapping(value: object) -> dict[str, Any]:
    """An object with fields."""
    if not isinstance(value, dict):
        raise ValueError(f"{_short(value)} is no mapping")
    return value


def mapping_of(
    item: Callable[[object], T], name: Callable[[object], str] = text
) -> Callable[[object], dict[str, T]]:
    """A check of objects whose fields are all of a kind, and so are their names."""
    return lambda value: {name(key): item(inner) for key, inner in mapping(value).items()}


def list_of(item: Callable[[object], T]) -> Callable[[object], list[T]]:
    """A check of lists of one kind of thing."""

    def check(value: object) -> list[T]:
        if not isinstance(value, (list, tuple)):
            raise ValueError(f"{_short(value)} is no list")
        return [item(inner) for inner in value]

    return check


def step(value: object) -> tuple[str, int]:
    """A step's key and generation."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise ValueError(f"{_short(value)} is no key with a generation")
    return text(value[0]), count(value[1])


def check_fields(value: Mapping[str, Any], checks: Mapping[str, Callable[[object], object]]) -> None:
    """Check those fields that are there."""
    for name, check in checks.items():
        if name in value:
            try:
                check(value[name])
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error


def _short(value: object) -> str:
    return f"{value!a:.80}"
