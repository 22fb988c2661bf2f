"""A store in a bucket whose contents are downloaded once to a machine, for all of its steps."""

from __future__ import annotations

from pathlib import Path

from translations_assets.records.manifest import Blob
from translations_assets.store.bucket.objects import Objects
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.node_cache import NodeCache


class CachedBucketStore(BucketStore):
    """A `BucketStore` that keeps in a cache what it places on this machine."""

    def __init__(self, objects: Objects, cache: NodeCache, *, read_only: bool = False) -> None:
        super().__init__(objects, read_only=read_only)
        self._cache = cache

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents; the next step on this machine may read them."""
        blob = super().add_blob(path)
        self._cache.add(blob, path)
        return blob

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only, digest verified. Raises DamagedError."""
        self._cache.place(blob, target, super().place_blob)
