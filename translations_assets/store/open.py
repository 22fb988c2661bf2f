"""Opening a store by its URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from translations_assets.common.errors import StoreError
from translations_assets.common.settings import download_cache
from translations_assets.store.local import LocalStore
from translations_assets.store.node_cache import NodeCache
from translations_assets.store.overlay import OverlayStore

if TYPE_CHECKING:
    from translations_assets.running.protocols import Store
    from translations_assets.store.bucket.objects import Objects


def open_store(url: str, base: str = "") -> Store:
    """The store at a plain path, `file:///…` or `gs://bucket/…`; nothing is written or asked.

    With a base, in the same forms, an overlay over that store, which is never written. The URL of an overlay
    names both: `file:///…?base=…`. Raises StoreError for anything else.

    >>> store = open_store(folder)
    >>> store.read_blob(store.add_bytes(b"one line"))
    b'one line'
    """
    if "://" in url:
        url, _, query = url.partition("?")
        base = base or parse_qs(query).get("base", [""])[0]
    own = _open(url)
    if not base:
        return own
    below = _open(base, read_only=True)
    if f"{own.url}/".startswith(f"{below.url}/") or below.url.startswith(f"{own.url}/"):
        raise StoreError(
            f"The store {own.url} and its base {below.url} overlap: one is inside the other. Choose another "
            "location for your own (TRANSLATIONS_STORE)."
        )
    return OverlayStore(own, below)


def named_place(url: str, kind: str) -> Path | Objects:
    """The folder or the bucket that a plain path, `file:///…` or `gs://bucket/…` names; nothing is asked.

    Raises StoreError for a file and for anything else; `kind` is what the place is to be.
    """
    scheme, colon, _ = url.partition("://")
    if not url.strip():
        raise StoreError(f"The {kind} has no name. Give a folder, or a bucket, such as gs://bucket/path.")
    if colon and scheme in _BUCKETS:
        return _BUCKETS[scheme](url)
    if colon and not url.startswith("file:///"):
        raise StoreError(
            f"{url} is no {kind} that can be opened. Give a folder, as a path or file:///path, or a bucket, "
            f"{' or '.join(f'{scheme}://bucket/path' for scheme in _BUCKETS)}."
        )
    path = Path(unquote(urlsplit(url).path) if colon else url)
    if path.exists() and not path.is_dir():
        raise StoreError(f"The {kind} must be a folder, and {path} is a file. Choose another path.")
    return path


def _open(url: str, read_only: bool = False) -> Store:
    path = named_place(url, "store")
    if not isinstance(path, Path):
        return _open_bucket(path, read_only)
    if read_only and not path.exists():
        raise StoreError(f"There is no store {path} to read (TRANSLATIONS_STORE_BASE). Is its disk mounted?")
    return LocalStore(path, read_only=read_only)


def _google(url: str) -> Objects:
    from translations_assets.store.gcs.objects import GcsObjects

    return GcsObjects.at(url)


_BUCKETS: dict[str, Callable[[str], Objects]] = {"gs": _google}
_READERS = {"file": "reader.py", "gs": "gcs/reader.py"}


def reader_of(store: Store) -> str:
    """A program that defines `read(url, name)`, a file of the store, and needs no code of this project."""
    name = _READERS[store.url.partition("://")[0]]
    return Path(__file__).parent.joinpath(name).read_text(encoding="utf-8")


def _open_bucket(objects: Objects, read_only: bool) -> Store:
    """The store in a bucket, with this machine's cache of downloads where the settings name one."""
    from translations_assets.store.bucket.store import BucketStore

    try:
        setting = download_cache()
    except ValueError as error:
        raise StoreError(f"The cache of downloads cannot be used: {error}.") from error
    return BucketStore(objects, cache=NodeCache(*setting) if setting else None, read_only=read_only)
