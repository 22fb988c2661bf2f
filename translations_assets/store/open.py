"""Opening a store by its URL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from translations_assets.steps.errors import StoreError
from translations_assets.store.local import LocalStore

if TYPE_CHECKING:
    from translations_assets.steps.protocols import Store


def open_store(url: str) -> Store:
    """The store at `file:///…` or at a plain path; nothing is written. Raises StoreError otherwise."""
    if "://" not in url:
        path = Path(url)
    elif url.startswith("file:///"):
        path = Path(unquote(urlsplit(url).path))
    else:
        raise StoreError(f"{url} is no store that can be opened. Give a folder: a path, or file:///path.")
    if path.exists() and not path.is_dir():
        raise StoreError(f"The store must be a folder, and {path} is a file. Choose another path.")
    return LocalStore(path)
