"""Blobs of a store in a bucket: uploaded once, downloaded to where they are placed, digest verified."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePosixPath

from translations_assets.errors import StoreUnreachable
from translations_assets.records.manifest import Blob
from translations_assets.store.blobs import DIFFERENT, Blobs
from translations_assets.store.bucket.digests import digests_of
from translations_assets.store.bucket.files import BucketFiles
from translations_assets.store.bucket.objects import Stat
from translations_assets.store.bucket.transfer import PIECE, digest_of_object, download, telling

FRESH = 3600 * 10**9  # ns after a touch in which there is no other: an object may change once a second only
_CLOCKS = 600 * 10**9  # ns by which our clock and the service's may differ


class BucketBlobs(Blobs[PurePosixPath]):
    """The part of `BucketStore` that keeps file contents."""

    _files: BucketFiles

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents and return their digest; contents already there are not sent."""
        with telling("read", path):
            digests = digests_of(path)
            name = str(self._blob_path(digests.blob))
            self._ensure(digests.blob, lambda _: self._files.objects.upload(path, name, digests))
        return digests.blob

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only, digest verified.

        Large ones are gathered beside it, in a file that another try goes on with. Damaged contents are put
        aside; raises DamagedError for them and for missing ones.
        """
        if blob.size <= PIECE:
            data = self.read_blob(blob)
            with telling("write", target):
                target.write_bytes(data)
                target.chmod(0o444)
            return
        part = target.with_name(f".{blob.digest[:32]}.part")
        self._gather(blob, part)
        with telling("write", target):
            part.chmod(0o444)
            os.rename(part, target)

    def _gather(self, blob: Blob, part: Path) -> None:
        """Download the contents to a file that has their beginning, or nothing."""
        found = self._files.objects.stat(str(self._blob_path(blob)))
        if found is None:
            raise self._missing(blob)
        if found.size != blob.size:
            raise self._damaged(blob)
        with telling("write", part):
            if download(self._files.objects, found, part) == blob:
                return
            came_as_sent = digests_of(part).crc32c == found.crc32c
            part.unlink()
        if came_as_sent:
            raise self._damaged(blob)
        raise StoreUnreachable(f"{blob.digest} did not arrive from {self._files} as it was sent.")

    def _found(self, blob: Blob) -> bool:
        """Whether the contents are there, with the right size; touched.

        They are not read: the service keeps checksums, and whoever reads them compares their digest.
        """
        path = self._blob_path(blob)
        found = self._files.objects.stat(str(path))
        if found is None:
            return False
        if found.size != blob.size:
            self.quarantine(blob, DIFFERENT)
            return False
        return _is_fresh(found) or self._files.touch(path)

    def _touch_blob(self, blob: Blob) -> bool:
        path = self._blob_path(blob)
        found = self._files.objects.stat(str(path))
        return found is not None and found.size == blob.size and (_is_fresh(found) or self._files.touch(path))

    def digest_now(self, digest: str) -> Blob | None:
        """Digest and size of what stands under a digest, read anew; None when nothing does."""
        found = self._files.objects.stat(str(self.blob_file(digest)))
        return digest_of_object(self._files.objects, found) if found else None

    def mark_time(self) -> int:
        """A time in ns by the service's clock: what is fresh need not be touched by who relies on it."""
        return self._files.now() - FRESH - _CLOCKS

    def removing_blobs(self) -> AbstractContextManager[None]:
        """Nothing to do, see `_blobs_stay`."""
        return nullcontext()

    def _blobs_stay(self) -> AbstractContextManager[None]:
        """Nothing to do: what was touched since it was listed is not removed (`BucketFiles.discard`)."""
        return nullcontext()


def _is_fresh(found: Stat) -> bool:
    return time.time_ns() - found.modified < FRESH
