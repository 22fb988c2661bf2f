"""Blobs of a local store: `blobs/ab/abcd…`, file contents by SHA-256, written once, read-only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from translations_assets.steps.errors import DamagedError, StoreError
from translations_assets.steps.manifest import Blob
from translations_assets.store.clone import clone
from translations_assets.store.digest import copy_file, digest_bytes, digest_file
from translations_assets.store.files import Files


class Blobs:
    """The part of `LocalStore` that keeps file contents."""

    _files: Files

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents durably and return their digest; a contents already there is not copied.

        A file in the store's own work folders is handed over: it becomes the blob, without a copy.
        """
        try:
            blob = digest_file(path)
        except OSError as error:
            raise StoreError(f"Cannot read {path} to store it: {error.strerror}.") from error
        source = path.resolve()
        if source.is_relative_to(self._files.root / "work"):
            self._ensure(blob, lambda target: self._files.adopt(source, target))
        else:
            self._ensure(blob, lambda target: self._copy(source, target, blob))
        return blob

    def add_bytes(self, data: bytes) -> Blob:
        """The same for bytes in memory."""
        blob = digest_bytes(data)
        self._ensure(blob, lambda target: self._files.create(target, lambda file: file.write(data)))
        return blob

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only (reflink, else hard link, else copy), digest verified.

        Damaged contents are put aside; raises DamagedError for them and for missing ones.
        """
        if self._files.size(self._blob_path(blob)) is None:
            raise self._missing(blob)
        with self._files.telling("place contents at", target):
            clone(self._blob_path(blob), target, link=True)
            target.chmod(0o444)
            if digest_file(target) == blob:
                return
            target.unlink()
        raise self._damaged(blob)

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

    def _blob_path(self, blob: Blob) -> Path:
        return self._files.at("blobs", blob.digest[:2], blob.digest)

    def _ensure(self, blob: Blob, create: Callable[[Path], bool]) -> None:
        """Make the contents be there, whole, durable and touched, whoever writes them."""
        for _ in range(3):
            if self._found(blob):
                return
            if create(self._blob_path(blob)):
                return
        raise StoreError(
            f"The store {self._files.root} does not keep what is written: {blob.digest} is damaged or gone "
            "right after it was stored. Check the disk it is on, then run again."
        )

    def _found(self, blob: Blob) -> bool:
        size = self._files.size(self._blob_path(blob))
        if size is None:
            return False
        if size != blob.size:
            self.quarantine(blob, f"{size} bytes instead of {blob.size}")
            return False
        return self._files.touch(self._blob_path(blob))

    def _copy(self, source: Path, target: Path, blob: Blob) -> bool:
        def write(file: BinaryIO) -> None:
            with source.open("rb") as reading:
                if copy_file(reading, file) != blob:
                    raise StoreError(
                        f"{source} changed while it was being stored. Run again when nobody writes it."
                    )

        return self._files.create(target, write)

    def _missing(self, blob: Blob) -> DamagedError:
        return DamagedError(
            f"The store {self._files.root} has lost contents {blob.digest} ({blob.size} bytes). "
            "Run again: what can be made again will be."
        )

    def _damaged(self, blob: Blob) -> DamagedError:
        self.quarantine(blob, "the contents differ from their SHA-256 or size")
        return DamagedError(
            f"In the store {self._files.root} the contents {blob.digest} differ from their digest; they were "
            "put aside in quarantine/. Run again: what can be made again will be."
        )
