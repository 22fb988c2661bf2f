"""The store in a bucket, shared by all machines that may use it.

Laid out as the store in a folder (`store.local`), but for checkpoints, which have their owner's token in
their path, and for what locks are for there: leases/, waiting/ and sessions/ of those who are at work now.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from translations_assets.store.bucket.files import BucketFiles
from translations_assets.store.bucket.leases import Leases
from translations_assets.store.bucket.objects import Objects
from translations_assets.store.durable import DurableStore


class BucketStore(DurableStore[PurePosixPath]):
    """A `Store` in a bucket, which must exist."""

    files: BucketFiles
    look_ups = 16  # each is two requests, and waits for their answers
    rewrite_seconds = 1.0  # the service's limit for one object

    def __init__(self, objects: Objects, leases: Leases | None = None, *, read_only: bool = False) -> None:
        leases = leases or Leases(objects)
        super().__init__(BucketFiles(objects, leases, read_only), leases)
