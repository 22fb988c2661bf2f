"""JSON objects that carry their own SHA-256, so that a torn or flipped one is never taken for a whole one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def seal(value: Mapping[str, Any]) -> bytes:
    """The object as one line of JSON, with a field `sha256` over all the others."""
    return _dump({**value, "sha256": _digest(value)}) + b"\n"


def unseal(data: bytes) -> dict[str, Any]:
    """The object that was sealed. Raises ValueError when the bytes are not what `seal` wrote."""
    value = json.loads(data)  # UnicodeDecodeError and JSONDecodeError are ValueErrors
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    if value.pop("sha256", None) != _digest(value):
        raise ValueError("the contents differ from their SHA-256")
    return value


def _digest(value: Mapping[str, Any]) -> str:
    return hashlib.sha256(_dump(value)).hexdigest()


def _dump(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
