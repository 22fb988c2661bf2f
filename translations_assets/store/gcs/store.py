"""The store in a bucket of Google Cloud Storage, shared by all machines that may use it.

Laid out as the store in a folder (`store.local`), but for checkpoints, which have their owner's token in
their path, and for what locks are for there: leases/, waiting/ and sessions/ of those who are at work now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from translations_assets.errors import StoreError
from translations_assets.store.durable import DurableStore
from translations_assets.store.gcs.blobs import BucketBlobs
from translations_assets.store.gcs.checkpoints import BucketCheckpoints
from translations_assets.store.gcs.files import BucketFiles
from translations_assets.store.gcs.leases import Leases
from translations_assets.store.gcs.objects import Objects

_LOOK_UPS = 16


class BucketStore(BucketBlobs, BucketCheckpoints, DurableStore[PurePosixPath]):
    """A `Store` in a bucket, which must exist; see `steps.protocols.Store`."""

    _files: BucketFiles

    def __init__(self, objects: Objects, leases: Leases | None = None, *, read_only: bool = False) -> None:
        self._leases = leases or Leases(objects)
        self._files = BucketFiles(objects, self._leases, read_only)

    @classmethod
    def at(cls, url: str, *, read_only: bool = False) -> BucketStore:
        """The store at `gs://bucket/prefix`; nothing is asked of the service. Raises StoreError otherwise."""
        parts = urlsplit(url)
        if parts.scheme != "gs" or not parts.netloc:
            raise StoreError(f"{url} names no bucket. Give one: gs://bucket or gs://bucket/folder.")
        folder = parts.path.strip("/")
        return cls(Objects(parts.netloc, f"{folder}/" if folder else ""), read_only=read_only)

    @property
    def files(self) -> BucketFiles:
        """The files below the bucket's prefix, for its upkeep."""
        return self._files

    @property
    def look_ups(self) -> int:
        """How many look-ups at once pay off: each is two requests, and waits for their answers."""
        return _LOOK_UPS

    @property
    def url(self) -> str:
        """What `open_store` opens this store by."""
        return self._files.objects.url

    def lock(
        self, key: str, generation: int, lost: Callable[[str], None] | None = None
    ) -> AbstractContextManager[bool]:
        """Try to become the owner of a step's generation; gives False at once when somebody else is."""
        return self._leases.lock(key, generation, lost)

    def is_owned(self, key: str, generation: int) -> bool:
        """Whether somebody owns a step's generation now."""
        return self._leases.is_owned(key, generation)

    def disown(self, finished: Collection[tuple[str, int]]) -> None:
        """Remove the leases that owners of finished steps left who were killed."""
        self._leases.disown(finished)

    def waiting(self, key: str, generation: int) -> AbstractContextManager[None]:
        """Be counted among those who want a step's result."""
        return self._leases.waiting(key, generation)

    def waiters(self, key: str, generation: int) -> int:
        """How many want a step's result now."""
        return self._leases.waiters(key, generation)
