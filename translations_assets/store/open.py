"""Opening a store by its URL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote, urlsplit

from translations_assets.common.errors import StoreError
from translations_assets.common.settings import download_cache
from translations_assets.store.durable import DurableStore
from translations_assets.store.local import LocalStore
from translations_assets.store.node_cache import NodeCache
from translations_assets.store.overlay import OverlayStore, places

if TYPE_CHECKING:
    from translations_assets.running.protocols import Store
    from translations_assets.store.bucket.objects import Objects


def open_store(url: str, base: str = "") -> Store:
    """The store at a plain path, `file:///…`, `gs://bucket/…` or `s3://bucket/…`; nothing is asked.

    With a base, in the same forms, an overlay over that store, which is never written. The URL of an overlay
    names both: `file:///…?base=…`, and where there are levels of trust the level of each (`level=…`). Raises
    StoreError for anything else.

    >>> store = open_store(folder)
    >>> store.read_blob(store.add_bytes(b"one line"))
    b'one line'
    """
    return _open(url, base)


def _open(url: str, base: str, reader: str | None = None) -> Store:
    """One's own store, or a base that somebody of the level `reader` (empty where there are none) reads."""
    level = ""
    if "://" in url:
        url, _, query = url.partition("?")
        named = {name: values[0] for name, values in parse_qs(query).items()}
        level, base = named.get("level", ""), base or named.get("base", "")
    is_own, reader = reader is None, level if reader is None else reader
    own = open_place(url, level=level, reader=reader, read_only=not is_own)
    if not base:
        return own
    below = _open(base, "", reader)
    for place in places(below):
        if do_overlap(own.files.url, location(place.url)):
            raise StoreError(
                f"The store {own} and its base {place} overlap: one is inside the other. Choose another "
                "location for your own (TRANSLATIONS_STORE)."
            )
    return OverlayStore(own, below)


def location(url: str) -> str:
    """The URL of a place without what else it names; a folder's without links. Raises StoreError."""
    place = named_place(url.partition("?")[0] if "://" in url else url, "store")
    return place.resolve().as_uri() if isinstance(place, Path) else place.url


def do_overlap(one: str, other: str) -> bool:
    """True if two locations are one, or one is inside the other."""
    return f"{one}/".startswith(f"{other}/") or other.startswith(f"{one}/")


def named_place(url: str, kind: str) -> Path | Objects:
    """The folder or bucket that a plain path, `file:///…`, `gs://bucket/…` or `s3://bucket/…` names.

    Nothing is asked. Raises StoreError for a file and for anything else; `kind` is what the place is to be.
    """
    scheme, colon, _ = url.partition("://")
    if not url.strip():
        raise StoreError(
            f"The {kind} has no name. Give a folder, or a bucket, such as gs://bucket/path or s3://bucket/path."
        )
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


def open_place(url: str, *, level: str, reader: str, read_only: bool) -> DurableStore[Any]:
    """The store in one place; nothing is asked. Raises StoreError.

    level   of trust of the place; empty where there are none
    reader  the level of who opens it, which has a cache of downloads of its own
    """
    path = named_place(url, "store")
    if not isinstance(path, Path):
        return _open_bucket(path, level, reader, read_only)
    if read_only and not path.exists():
        named = f"the store of the level {level}" if level else "TRANSLATIONS_STORE_BASE"
        raise StoreError(f"There is no store {path} to read ({named}). Is its disk mounted?")
    return LocalStore(path, read_only=read_only, level=level)


def _google(url: str) -> Objects:
    from translations_assets.store.gcs.objects import GcsObjects

    return GcsObjects.at(url)


def _s3(url: str) -> Objects:
    from translations_assets.store.s3.objects import S3Objects

    return S3Objects.at(url)


_BUCKETS: dict[str, Callable[[str], Objects]] = {"gs": _google, "s3": _s3}
_READERS = {"file": "reader.py", "gs": "gcs/reader.py", "s3": "s3/reader.py"}


def reader_of(store: Store) -> str:
    """A program that defines `read(url, name)`, a file of the store, and needs no code of this project."""
    name = _READERS[store.url.partition("://")[0]]
    return Path(__file__).parent.joinpath(name).read_text(encoding="utf-8")


def _open_bucket(objects: Objects, level: str, reader: str, read_only: bool) -> DurableStore[Any]:
    """The store in a bucket, with this machine's cache of downloads where the settings name one."""
    from translations_assets.store.bucket.store import BucketStore

    try:
        setting = download_cache()
    except ValueError as error:
        raise StoreError(f"The cache of downloads cannot be used: {error}.") from error
    cache = None
    if setting:
        folder, size = setting
        cache = (
            NodeCache(folder / f"level.{reader}", size, private=True) if reader else NodeCache(folder, size)
        )
    return BucketStore(objects, cache=cache, read_only=read_only, level=level)
