"""SHA-256 and CRC-32C of what is sent to a bucket."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

import google_crc32c

from translations_assets.records.manifest import Blob
from translations_assets.store.digest import PIECE, Digests


def digests_of(path: Path) -> Digests:
    """The digests of a file. Raises OSError."""
    with path.open("rb") as file:
        return _digests(iter(lambda: file.read(PIECE), b""))


def digests_of_bytes(data: bytes) -> Digests:
    """The digests of bytes in memory."""
    return _digests([data])


def _digests(pieces: Iterable[bytes]) -> Digests:
    sha256, crc32c, size = hashlib.sha256(), google_crc32c.Checksum(), 0
    for piece in pieces:
        sha256.update(piece)
        crc32c.update(piece)
        size += len(piece)
    return Digests(Blob(sha256.hexdigest(), size), base64.b64encode(crc32c.digest()).decode())
