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
    """The store at a plain path, `file:///…` or `gs://bucket/…`; nothing is written or asked.

    Raises StoreError for anything else.
    """
    if url.startswith("gs://"):
        return _open_bucket(url)
    if "://" not in url:
        path = Path(url)
    elif url.startswith("file:///"):
        path = Path(unquote(urlsplit(url).path))
    else:
        raise StoreError(
            f"{url} is no store that can be opened. Give a folder, as a path or file:///path, or a bucket, "
            "gs://bucket/path."
        )
    if path.exists() and not path.is_dir():
        raise StoreError(f"The store must be a folder, and {path} is a file. Choose another path.")
    return LocalStore(path)


def _open_bucket(url: str) -> Store:
    """The store in a bucket, with this machine's cache of downloads where the settings name one."""
    from translations_assets.settings import download_cache
    from translations_assets.store.gcs.cached import CachedBucketStore
    from translations_assets.store.gcs.store import BucketStore
    from translations_assets.store.node_cache import NodeCache

    store = BucketStore.at(url)
    try:
        setting = download_cache()
    except ValueError as error:
        raise StoreError(f"The cache of downloads cannot be used: {error}.") from error
    return CachedBucketStore(store.files.objects, NodeCache(*setting)) if setting else store
