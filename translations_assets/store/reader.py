"""Reads a file of a store in a folder before any code of the project is there (`runners.pod.bootstrap`)."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


def read(store: str, name: str) -> bytes:
    """A file of the store, on a volume that is shared with the orchestrator. Raises FileNotFoundError."""
    return Path(unquote(urlsplit(store).path), name).read_bytes()
