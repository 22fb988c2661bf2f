"""Blobs of a local store: `blobs/ab/abcd…`, file contents by SHA-256, written once, read-only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from translations_assets.steps.errors import DamagedError, StoreError
from translations_assets.steps.manifest import Blob
from translations_assets.store.clone import clone
from translations_assets.store.digest import copy_file, digest_bytes, digest_file
from translations_assets.store.files import Files

_DIFFERENT = "the contents differ from their SHA-256 or size"
_LOCK = "blobs"  # shared by those who rely on contents that they found, held alone by who removes contents


class Blobs:
    """The part of `LocalStore` that keeps file contents."""

    _files: Files

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents durably and return their digest; a contents already there is not copied.

        A file in the store's own work folders is handed over: it becomes the blob, without a copy.
        """
        with self._files.telling("read, to store it,", path):
            blob = digest_file(path)
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

    def blob_file(self, digest: str) -> Path:
        """Where contents stand, when they are there."""
        return self._files.at("blobs", digest[:2], digest)

    def _blob_path(self, blob: Blob) -> Path:
        return self.blob_file(blob.digest)

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
        """Whether the contents are there, whole; touched, so that nobody collects them before their use."""
        path = self._blob_path(blob)
        if self._files.size(path) is None:
            return False
        with self._blobs_stay():
            if not self._files.touch(path):
                return False
        with self._files.telling("read", path):
            if digest_file(path) == blob:
                return True
        self.quarantine(blob, _DIFFERENT)
        return False

    @contextmanager
    def _blobs_stay(self) -> Iterator[None]:
        """Keep the garbage collector from removing contents."""
        with self._files.locked(_LOCK):
            yield

    def _touch_blob(self, blob: Blob) -> bool:
        """Mark contents as used now; False when they are missing or have another size."""
        return self._files.touch(self._blob_path(blob), durable=False) and self.has_blob(blob)

    def blob_shards(self) -> list[Path]:
        """The folders of the blobs, each with a part of them."""
        folder = self._files.at("blobs")
        return [folder / name for name in sorted(self._files.names(folder))]

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

        return self._files.create(target, write)

    def _missing(self, blob: Blob) -> DamagedError:
        return DamagedError(
            f"The store {self._files.root} has lost contents {blob.digest} ({blob.size} bytes). "
            "Run again: what can be made again will be."
        )

    def _damaged(self, blob: Blob) -> DamagedError:
        self.quarantine(blob, _DIFFERENT)
        return DamagedError(
            f"In the store {self._files.root} the contents {blob.digest} differ from their digest; they were "
            "put aside in quarantine/. Run again: what can be made again will be."
        )
