"""A local store's files: contents on their way to it and from it, and locks of the whole store."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from translations_assets.errors import StoreError
from translations_assets.records.manifest import Blob
from translations_assets.store.clone import clone, place
from translations_assets.store.digest import NO_FILE, Digests, NotPlainError, copy_file, digest_file
from translations_assets.store.files import Files
from translations_assets.store.locks import hold

_LOCK = "blobs"  # shared by those who rely on contents that they found, held alone by who removes contents


class LocalFiles(Files):
    """A `Medium`; the files of contents are read-only."""

    @property
    def url(self) -> str:
        """`file:///…`."""
        return self.root.as_uri()

    def measure(self, source: Path) -> Digests:
        """The digest of a file."""
        with self.telling("read, to store it,", source):
            return Digests(digest_file(source.resolve()))

    def send(self, source: Path, path: Path, digests: Digests) -> bool:
        """Make a file with the contents of another; one in the store's work folders becomes the file."""
        source = source.resolve()
        if source.is_relative_to(self.root / "work"):
            return self.adopt(source, path)

        def write(file: BinaryIO) -> None:
            with source.open("rb") as reading:
                if copy_file(reading, file) != digests.blob:
                    raise StoreError(
                        f"{source} changed while it was being stored. Run again when nothing writes it."
                    )

        return self.write_new(path, write)

    def save(self, source: Path, path: Path) -> Digests:
        """Make a file, which others who share the store may read, as a link where that is possible."""
        with self.telling("write", path):
            self.make_folder(path.parent)
            clone(source, path, link=True)
            path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o444)
            self.sync(path)
            return Digests(digest_file(path))

    def fetch(self, path: Path, blob: Blob, target: Path, writable: bool = False) -> Blob | None:
        """Put contents at a path: reflink, else hard link, else copy.

        Of a store that is only read no hard links are made: who writes to one writes to the store.
        """
        if self.size(path) is None:
            return None
        with self.telling("place contents at", target):
            try:
                if not writable:
                    return place(path, target, link=not self.read_only)
                target.parent.mkdir(parents=True, exist_ok=True)
                clone(path, target, link=False)
                target.chmod(0o644)
                return digest_file(target)
            except NotPlainError:
                return NO_FILE

    def digest(self, path: Path) -> Blob | None:
        """Digest and size of a file, read again."""
        with self.telling("read", path):
            try:
                return digest_file(path)
            except FileNotFoundError:
                return None
            except NotPlainError:
                return NO_FILE

    def is_whole(self, path: Path, digests: Digests) -> bool | None:
        """Whether a file has its contents: it is read."""
        found = self.digest(path)
        return None if found is None else found == digests.blob

    @contextmanager
    def locked(self, name: str, *, alone: bool = False, wait: bool = True) -> Iterator[bool]:
        """Hold a lock of the whole store, shared or alone; gives False when that would mean waiting."""
        path = self.at("locks", name)
        with self.telling("lock", path):
            self.make_folder(path.parent)
            descriptor = hold(path, alone=alone, wait=wait)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def reserved(self, name: str, alone: bool = False) -> AbstractContextManager[bool]:
        """Hold a lock of the whole store, shared or alone; False when another process's is in the way."""
        return self.locked(name, alone=alone, wait=False)

    def using_contents(self) -> AbstractContextManager[object]:
        """Share the lock of contents."""
        return self.locked(_LOCK)

    def removing_contents(self) -> AbstractContextManager[object]:
        """Hold the lock of contents alone."""
        return self.locked(_LOCK, alone=True)

    def mark_time(self) -> int:
        """Now, in ns, by the clock of the store's file system.

        Who relies on contents either has committed what names them before this time, or touches them
        after it.
        """
        with self.removing_contents():
            path = self.at("locks", _LOCK)
            self.touch(path, durable=False)
            return self.modified(path)
