"""SHA-256 of files and of what is copied from one to another, in pieces that stay small."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO

from translations_assets.steps.manifest import Blob

PIECE = 1 << 20


def digest_bytes(data: bytes) -> Blob:
    """Digest and size of bytes in memory."""
    return Blob(hashlib.sha256(data).hexdigest(), len(data))


def digest_file(path: Path) -> Blob:
    """Digest and size of a file."""
    with path.open("rb") as file:
        return copy_file(file, None)


def copy_file(source: BinaryIO, target: BinaryIO | None) -> Blob:
    """Copy one open file to another (if any); digest and size of what was copied."""
    sha256, size = hashlib.sha256(), 0
    while piece := source.read(PIECE):
        sha256.update(piece)
        size += len(piece)
        if target is not None:
            target.write(piece)
    return Blob(sha256.hexdigest(), size)
