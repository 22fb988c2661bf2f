"""Blobs of a local store: read-only files, which are placed as links or copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from translations_assets.errors import StoreError
from translations_assets.records.manifest import Blob
from translations_assets.store.blobs import DIFFERENT, Blobs
from translations_assets.store.clone import place
from translations_assets.store.digest import NotPlainError, copy_file, digest_file
from translations_assets.store.files import Files

_LOCK = "blobs"  # shared by those who rely on contents that they found, held alone by who removes contents


class LocalBlobs(Blobs[Path]):
    """The part of `LocalStore` that keeps file contents."""

    _files: Files

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents durably and return their digest; a contents already there is not copied.

        A file in the store's own work folders is handed over: it becomes the blob, without a copy.
        """
        source = path.resolve()
        with self._files.telling("read, to store it,", path):
            blob = digest_file(source)
        if source.is_relative_to(self._files.root / "work"):
            self._ensure(blob, lambda target: self._files.adopt(source, target))
        else:
            self._ensure(blob, lambda target: self._copy(source, target, blob))
        return blob

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only (reflink, else hard link, else copy), digest verified.

        Of a store that is only read no hard links are made: whoever writes to one writes to the store.
        Damaged contents are put aside; raises DamagedError for them and for missing ones.
        """
        if self._files.size(self._blob_path(blob)) is None:
            raise self._missing(blob)
        with self._files.telling("place contents at", target), suppress(NotPlainError):
            if place(self._blob_path(blob), target, link=not self._files.read_only) == blob:
                return
            target.unlink()
        raise self._damaged(blob)

    def _found(self, blob: Blob) -> bool:
        """Whether the contents are there, whole; touched, so that nobody collects them before their use."""
        path = self._blob_path(blob)
        if self._files.size(path) is None:
            return False
        with self._blobs_stay():
            if not self._files.touch(path):
                return False
        if self.digest_now(blob.digest) == blob:
            return True
        self.quarantine(blob, DIFFERENT)
        return False

    @contextmanager
    def _blobs_stay(self) -> Iterator[None]:
        """Keep the garbage collector from removing contents."""
        with self._files.locked(_LOCK):
            yield

    def _touch_blob(self, blob: Blob) -> bool:
        """Mark contents as used now; False when they are missing or have another size."""
        return self._files.touch(self._blob_path(blob), durable=False) and self.has_blob(blob)

    def digest_now(self, digest: str) -> Blob | None:
        """Digest and size of what stands under a digest, read anew; None when nothing does."""
        path = self.blob_file(digest)
        with self._files.telling("read", path):
            try:
                return digest_file(path)
            except FileNotFoundError:
                return None
            except NotPlainError:
                return Blob("", 0)

    @contextmanager
    def removing_blobs(self) -> Iterator[None]:
        """Keep everybody from relying on contents that they find, while some are removed."""
        with self._files.locked(_LOCK, alone=True):
            yield

    def mark_time(self) -> int:
        """Now, in ns, by the clock of the store's file system.

        Whoever relies on contents either has committed what names them before this time, or touches them
        after it.
        """
        with self._files.locked(_LOCK, alone=True):
            path = self._files.at("locks", _LOCK)
            self._files.touch(path, durable=False)
            return self._files.modified(path)

    def _copy(self, source: Path, target: Path, blob: Blob) -> bool:
        def write(file: BinaryIO) -> None:
            with source.open("rb") as reading:
                if copy_file(reading, file) != blob:
                    raise StoreError(
                        f"{source} changed while it was being stored. Run again when nobody writes it."
                    )

        return self._files.write_new(target, write)
