"""Blobs: `blobs/ab/abcd…`, file contents by SHA-256, written once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic

from translations_assets.errors import DamagedError, StoreError
from translations_assets.records.manifest import Blob
from translations_assets.store.digest import Digests, digest_bytes
from translations_assets.store.medium import Medium, P, aside

DIFFERENT = "the contents differ from their SHA-256 or size"
_AGAIN = "Run again: what can be made again will be."
_ELSEWHERE = (
    "Tell whoever looks after it (translations cache verify), or make them again in your own: "
    "translations train PARTITION --start STAGE."
)


class Blobs(Generic[P]):
    """The part of a store that keeps file contents."""

    files: Medium[P]

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents durably and return their digest; contents already there are not copied."""
        digests = self.files.measure(path)
        self._ensure(digests.blob, lambda target: self.files.send(path, target, digests))
        return digests.blob

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only, digest verified.

        Damaged contents are put aside; raises DamagedError for them and for missing ones.
        """
        placed = self.files.fetch(self._blob_path(blob), blob, target)
        if placed is None:
            raise self._missing(blob)
        if placed != blob:
            target.unlink(missing_ok=True)
            raise self._damaged(blob)

    def add_bytes(self, data: bytes) -> Blob:
        """Store bytes durably and return their digest; contents already there are not written."""
        blob = digest_bytes(data)
        self._ensure(blob, lambda target: self.files.create(target, data))
        return blob

    def read_blob(self, blob: Blob) -> bytes:
        """The contents, digest verified. Raises DamagedError when missing or different."""
        data = self.files.read(self._blob_path(blob))
        if data is None:
            raise self._missing(blob)
        if digest_bytes(data) != blob:
            raise self._damaged(blob)
        return data

    def has_blob(self, blob: Blob) -> bool:
        """Whether the contents are there, with the right size (the digest is not computed)."""
        return self.files.size(self._blob_path(blob)) == blob.size

    def quarantine(self, blob: Blob, reason: str) -> None:
        """Put damaged contents aside, so that they are not used."""
        self.files.set_aside(self._blob_path(blob), reason)

    def blob_file(self, digest: str) -> P:
        """Where contents stand, when they are there."""
        return self.files.at("blobs", digest[:2], digest)

    def blob_shards(self) -> list[P]:
        """The folders of the blobs, each with a part of them."""
        folder = self.files.at("blobs")
        return [folder / name for name in sorted(self.files.names(folder))]

    def _blob_path(self, blob: Blob) -> P:
        return self.blob_file(blob.digest)

    def _ensure(self, blob: Blob, create: Callable[[P], bool]) -> None:
        """Make the contents be there, whole, durable and touched, whichever process writes them."""
        for _ in range(3):
            if self._found(blob):
                return
            if create(self._blob_path(blob)):
                return
        raise StoreError(
            f"The store {self.files} does not keep what is written: {blob.digest} is damaged or gone "
            "right after it was stored. Check its disk or bucket, then run again."
        )

    def _found(self, blob: Blob) -> bool:
        """Whether the contents are there, whole; touched, so that they are not collected before their use."""
        path = self._blob_path(blob)
        with self.files.using_contents():
            size = self.files.touch(path)
        if size is None:
            return False
        if size == blob.size and self.files.is_whole(path, Digests(blob)):
            return True
        self.quarantine(blob, DIFFERENT)
        return False

    def _touch_blob(self, blob: Blob) -> bool:
        """Mark contents as used now; False when they are missing or have another size."""
        return self.files.touch(self._blob_path(blob), durable=False) == blob.size

    def _missing(self, blob: Blob) -> DamagedError:
        return DamagedError(
            f"The store {self.files} has lost contents {blob.digest} ({blob.size} bytes). {_AGAIN}"
        )

    def _damaged(self, blob: Blob) -> DamagedError:
        self.quarantine(blob, DIFFERENT)
        return DamagedError(
            f"In the store {self.files} the contents {blob.digest} differ from their digest; they were "
            f"{aside(self.files)}. {_ELSEWHERE if self.files.read_only else _AGAIN}"
        )
