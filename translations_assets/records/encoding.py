"""Encoding of names and contents in a store.

A name becomes one safe file name, whatever people put into keys, partitions, spaces and run ids. Contents
carry their own SHA-256, so that torn or flipped ones are never taken for whole ones: JSON objects as their
first field, text and log parts as a first line, `# sha256 <hex>`. The first version wrote text and log parts
without it, and those are read as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from translations_assets.common.errors import StoreError

_START = b'{"sha256": "'
_DIGEST_END = len(_START) + 64
MALFORMED = (ValueError, KeyError, TypeError, AttributeError)  # of reading what the store did not write
DIFFERENT = "the contents differ from their SHA-256"

_HEADER = b"# sha256 "
_HEADER_END = len(_HEADER) + 65
_LINE_OF_DIGEST = re.compile(rb".{%d}[0-9a-f]{64}\n" % len(_HEADER), re.DOTALL)  # whatever it begins with
_encode = json.JSONEncoder(ensure_ascii=False).encode
_UNSAFE = re.compile(r"[^A-Za-z0-9_@.+=,-]|^\.")
_ESCAPED = re.compile(r"(?:%[0-9A-F]{2})+")


def safe(name: str) -> str:
    """A name as one file name: `a/b` → `a%2Fb`, `..` → `%2E.`. Raises StoreError for the empty name."""
    if not name:
        raise StoreError("The store was given an empty name. Name the partition, space, run or config.")
    return _UNSAFE.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode(errors="surrogatepass")), name
    )


def original(name: str) -> str:
    """The name that `safe` was given; of a name that it did not make, something that can be shown."""
    return _ESCAPED.sub(lambda match: bytes.fromhex(match[0].replace("%", "")).decode(errors="replace"), name)


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
        raise ValueError(DIFFERENT)
    try:
        value: dict[str, Any] = json.loads(body)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    return value


def seal_bytes(data: bytes) -> bytes:
    """The bytes below a line that holds their digest; YAML takes that for a comment."""
    return b"".join((_HEADER, _digest(data), b"\n", data))


def unseal_bytes(data: bytes) -> bytes:
    """The bytes that were sealed, or that the first version wrote; ValueError for damaged ones.

    >>> unseal_bytes(b"written by the first version")
    b'written by the first version'
    """
    body = data[_HEADER_END:]
    if data == seal_bytes(body):
        return body
    if _is_damaged(data):
        raise ValueError(DIFFERENT)
    return data


def _is_damaged(data: bytes) -> bool:
    """True if bytes that no digest stands for have had one, are cut off before it, or were never written."""
    begins = data.startswith((_HEADER, _START)) or _HEADER.startswith(data)
    return begins or b"\0" in data or _LINE_OF_DIGEST.match(data) is not None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()
