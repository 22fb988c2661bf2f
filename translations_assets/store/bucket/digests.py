"""SHA-256 and CRC-32C of files that are sent to a bucket."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

import google_crc32c

from translations_assets.records.manifest import Blob
from translations_assets.store.digest import PIECE


class Digests:
    """SHA-256, size, and the CRC-32C that the service computes, of what it is fed."""

    def __init__(self) -> None:
        self._sha256, self._crc32c, self._size = hashlib.sha256(), google_crc32c.Checksum(), 0

    def update(self, data: bytes) -> None:
        """Feed more."""
        self._sha256.update(data)
        self._crc32c.update(data)
        self._size += len(data)

    @property
    def blob(self) -> Blob:
        """SHA-256 and size."""
        return Blob(self._sha256.hexdigest(), self._size)

    @property
    def crc32c(self) -> str:
        """In base 64, as the service writes it."""
        return base64.b64encode(self._crc32c.digest()).decode()


def digests_of(path: Path) -> Digests:
    """The digests of a file. Raises OSError."""
    digests = Digests()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            digests.update(piece)
    return digests


def digests_of_bytes(data: bytes) -> Digests:
    """The digests of bytes in memory."""
    digests = Digests()
    digests.update(data)
    return digests
