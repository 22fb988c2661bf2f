"""The store in a bucket, shared by all machines that may use it.

Laid out as the store in a folder (`store.local`), but for checkpoints, which have their owner's token in
their path, and for what locks are for there: leases/, waiting/ and sessions/ of those who are at work now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from pathlib import PurePosixPath

from translations_assets.store.bucket.blobs import BucketBlobs
from translations_assets.store.bucket.checkpoints import BucketCheckpoints
from translations_assets.store.bucket.files import BucketFiles
from translations_assets.store.bucket.leases import Leases
from translations_assets.store.bucket.objects import Objects
from translations_assets.store.durable import DurableStore

_LOOK_UPS = 16


class BucketStore(BucketBlobs, BucketCheckpoints, DurableStore[PurePosixPath]):
    """A `Store` in a bucket, which must exist; see `running.protocols.Store`."""

    _files: BucketFiles
    rewrite_seconds = 1.0  # the service's limit for one object

    def __init__(self, objects: Objects, leases: Leases | None = None, *, read_only: bool = False) -> None:
        self._leases = leases or Leases(objects)
        self._files = BucketFiles(objects, self._leases, read_only)

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
