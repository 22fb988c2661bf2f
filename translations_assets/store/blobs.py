"""Blobs: `blobs/ab/abcd…`, file contents by SHA-256, written once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic

from translations_assets.errors import DamagedError, StoreError
from translations_assets.records.manifest import Blob
from translations_assets.store.digest import digest_bytes
from translations_assets.store.medium import Medium, P, aside

DIFFERENT = "the contents differ from their SHA-256 or size"
_AGAIN = "Run again: what can be made again will be."
_ELSEWHERE = (
    "Tell whoever looks after it (translations cache verify), or make them again in your own: "
    "translations train PARTITION --start STAGE."
)


class Blobs(ABC, Generic[P]):
    """What is alike in every store that keeps file contents."""

    _files: Medium[P]

    def add_bytes(self, data: bytes) -> Blob:
        """Store bytes durably and return their digest; contents already there are not written."""
        blob = digest_bytes(data)
        self._ensure(blob, lambda target: self._files.create(target, data))
        return blob

    def read_blob(self, blob: Blob) -> bytes:
        """The contents, digest verified. Raises DamagedError when missing or different."""
        data = self._files.read(self._blob_path(blob))
        if data is None:
            raise self._missing(blob)
        if digest_bytes(data) != blob:
            raise self._damaged(blob)
        return data

    def has_blob(self, blob: Blob) -> bool:
        """Whether the contents are there, with the right size (the digest is not computed)."""
        return self._files.size(self._blob_path(blob)) == blob.size

    def quarantine(self, blob: Blob, reason: str) -> None:
        """Put damaged contents aside, so that nobody uses them."""
        self._files.set_aside(self._blob_path(blob), reason)

    def blob_file(self, digest: str) -> P:
        """Where contents stand, when they are there."""
        return self._files.at("blobs", digest[:2], digest)

    def blob_shards(self) -> list[P]:
        """The folders of the blobs, each with a part of them."""
        folder = self._files.at("blobs")
        return [folder / name for name in sorted(self._files.names(folder))]

    def _blob_path(self, blob: Blob) -> P:
        return self.blob_file(blob.digest)

    def _ensure(self, blob: Blob, create: Callable[[P], bool]) -> None:
        """Make the contents be there, whole, durable and touched, whoever writes them."""
        for _ in range(3):
            if self._found(blob):
                return
            if create(self._blob_path(blob)):
                return
        raise StoreError(
            f"The store {self._files} does not keep what is written: {blob.digest} is damaged or gone "
            "right after it was stored. Check its disk or bucket, then run again."
        )

    @abstractmethod
    def _found(self, blob: Blob) -> bool:
        """Whether the contents are there, whole; touched, so that nobody collects them before their use."""

    @abstractmethod
    def _blobs_stay(self) -> AbstractContextManager[None]:
        """Keep the garbage collector from removing contents that were touched before, or are in the block."""

    @abstractmethod
    def _touch_blob(self, blob: Blob) -> bool:
        """Mark contents as used now; False when they are missing or have another size."""

    def _missing(self, blob: Blob) -> DamagedError:
        return DamagedError(
            f"The store {self._files} has lost contents {blob.digest} ({blob.size} bytes). {_AGAIN}"
        )

    def _damaged(self, blob: Blob) -> DamagedError:
        self.quarantine(blob, DIFFERENT)
        return DamagedError(
            f"In the store {self._files} the contents {blob.digest} differ from their digest; they were "
            f"{aside(self._files)}. {_ELSEWHERE if self._files.read_only else _AGAIN}"
        )
