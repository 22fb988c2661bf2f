"""JSON objects that carry their own SHA-256, so that a torn or flipped one is never taken for a whole one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_START = b'{"sha256": "'
_DIGEST_END = len(_START) + 64
_encode = json.JSONEncoder(ensure_ascii=False).encode


def seal(value: Mapping[str, Any]) -> bytes:
    """The object as one line of JSON that begins with a field `sha256`, taken over the line without it."""
    body = _encode(dict(value)).encode()
    comma = b", " if value else b""
    return b"".join((_START, _digest(body), b'"', comma, body[1:], b"\n"))


def unseal(data: bytes) -> dict[str, Any]:
    """The object that was sealed. Raises ValueError when the bytes are not what `seal` wrote."""
    rest = data[_DIGEST_END + 1 :]
    body = b"{" + rest.removeprefix(b", ").removesuffix(b"\n")
    if data != b"".join((_START, _digest(body), b'"', rest)) or not rest.endswith(b"}\n"):
        raise ValueError("the contents differ from their SHA-256")
    value: dict[str, Any] = json.loads(body)
    return value


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
