"""File names for keys, partitions, spaces and run ids, whatever people put into them."""

from __future__ import annotations

import re

from translations_assets.errors import StoreError

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
