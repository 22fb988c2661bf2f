"""The store in a folder, shared by all processes of a machine (or of several, on a file system with flock).

store.json  the format; tells a store from the empty folder that it is mounted on
blobs/ab/abcd…  steps/ab/<key>/<n>.json  logs/<key>/<n>.<attempt>/<part>  checkpoints/<key>/<n>/<set>/
runs/<run>.json  refs/<space>/<partition>/<stage>/<run>.json  pins/<run>.json  configs/<name>.yml
publications/<digest>.json  where results were published
retired/<key>.<n>.json  how collected artifacts were made, while something kept was made from them
quarantine/  damaged files, each with its reason    locks/, tmp/, work/  of those who are at work now
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from translations_assets.records.encoding import safe
from translations_assets.records.manifest import Blob
from translations_assets.store.contents import (
    NO_FILE,
    Digests,
    NotPlainError,
    changed,
    clone,
    copy_file,
    digest_file,
    place,
)
from translations_assets.store.durable import DurableStore
from translations_assets.store.files import Files
from translations_assets.store.locks import acquire, acquire_kept, acquire_new, is_held, release

_LOCK = "blobs"  # shared by processes that rely on contents that they found, held alone to remove contents


class LocalFiles(Files):
    """A `Medium`; the files of contents are read-only."""

    def foreign(self) -> Iterator[Path]:
        """Every symbolic link below the root but in `work/`: the store makes and follows none."""
        for parent, folders, names in os.walk(self.root):
            yield from (path for name in (*folders, *names) if (path := Path(parent, name)).is_symlink())
            if parent == str(self.root) and "work" in folders:
                folders.remove("work")  # what scripts do there is their own matter

    def bytes_below(self, path: Path) -> int:
        """The bytes of all files below a folder, or those of a file; 0 when it does not exist."""
        files = self.walk(path) if path.is_dir() and not path.is_symlink() else [path]
        return sum(self.size(file) or 0 for file in files)

    def measure(self, source: Path) -> Digests:
        """The digest of a file."""
        with self.store_errors("read, to store it,", source):
            return Digests(digest_file(source.resolve()))

    def send(self, source: Path, path: Path, digests: Digests) -> bool:
        """Make a file with the contents of another; one in the store's work folders becomes the file."""
        source = source.resolve()
        if source.is_relative_to(self.root / "work"):
            return self.adopt(source, path)

        def write(file: BinaryIO) -> None:
            with source.open("rb") as reading:
                if copy_file(reading, file) != digests.blob:
                    raise changed(source)

        return self.write_new(path, write)

    def save(self, source: Path, path: Path) -> Digests:
        """Make a file, as a link where that is possible; others who share the store may read it."""
        with self.store_errors("write", path):
            self.make_folder(path.parent)
            clone(source, path, link=True)
            path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o444)
            self.sync(path)
            return Digests(digest_file(path))

    def fetch(self, path: Path, blob: Blob, target: Path, writable: bool = False) -> Blob | None:
        """Put contents at a path: reflink, else hard link, else copy.

        A read-only store gives no hard links: writing to one would write to the store.
        """
        size = self.size(path)
        if size != blob.size:  # a file without an end is not read
            return None if size is None else Blob("", size)
        with self.store_errors("place contents at", target):
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
        with self.store_errors("read", path):
            try:
                return digest_file(path)
            except FileNotFoundError:
                return None
            except NotPlainError:
                return NO_FILE

    def is_whole(self, path: Path, digests: Digests) -> bool | None:
        """True if a file has its contents: it is read."""
        found = self.digest(path)
        return None if found is None else found == digests.blob

    @contextmanager
    def locked(self, name: str, *, alone: bool = False, wait: bool = True) -> Iterator[bool]:
        """Hold a lock of the whole store, shared or alone; False instead of waiting, if `wait` is false."""
        path = self.at("locks", name)
        with self.store_errors("lock", path):
            self.make_folder(path.parent)
            descriptor = acquire_kept(path, alone=alone, wait=wait)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def reserved(self, name: str, alone: bool = False) -> AbstractContextManager[bool]:
        """Hold a lock of the whole store, shared or alone; False when another process holds it."""
        return self.locked(name, alone=alone, wait=False)

    def using_contents(self) -> AbstractContextManager[object]:
        """Share the lock of contents."""
        return self.locked(_LOCK)

    def removing_contents(self) -> AbstractContextManager[object]:
        """Hold the lock of contents alone."""
        return self.locked(_LOCK, alone=True)

    def mark_time(self) -> int:
        """Now, in ns, by the clock of the store's file system.

        Whoever relies on contents has committed what names them before this time, or touches them after it.
        """
        with self.removing_contents():
            path = self.at("locks", _LOCK)
            self.touch(path, durable=False)
            return self.modified(path)


class Ownership:
    """`FencedOwners` of the steps of a store in a folder."""

    fenced = False  # the kernel holds the lock, so that an owner never loses a step

    def __init__(self, files: Files) -> None:
        self._files = files

    def token(self, key: str, generation: int) -> int:
        """Nothing that matters, as owners are not fenced."""
        return 0

    @contextmanager
    def lock(self, key: str, generation: int, lost: Callable[[str], None] | None = None) -> Iterator[bool]:
        """Try to become the owner of a step's generation; False at once when another process is."""
        path = self._lock_file(key, generation)
        with self._files.store_errors("lock", path):
            self._files.make_folder(path.parent)
            descriptor = acquire(path)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                release(path, descriptor)

    def is_owned(self, key: str, generation: int) -> bool:
        """True if a process owns a step's generation now."""
        path = self._lock_file(key, generation)
        with self._files.store_errors("look at", path):
            held = is_held(path)
        if not held:
            self._files.check()
        return held

    def disown(self, finished: Collection[tuple[str, int]]) -> None:
        """Remove the lock files that killed owners of finished steps have left."""
        folder, names = self._files.at("locks"), {f"{key}.{generation}" for key, generation in finished}
        for name in names.intersection(self._files.names(folder)):
            self._is_held(folder / name)

    @contextmanager
    def waiting(self, key: str, generation: int) -> Iterator[None]:
        """Be counted among those who want a step's result, by a locked file: dead processes do not count."""
        folder = self._files.at("tmp")
        with self._files.store_errors("write to", folder):
            self._files.make_folder(folder)
            path, descriptor = acquire_new(folder, _waiter(key, generation))
        try:
            yield
        finally:
            release(path, descriptor)

    def waiters(self, key: str, generation: int) -> int:
        """Count those that want a step's result now."""
        folder = self._files.at("tmp")
        names = [name for name in self._files.names(folder) if name.endswith(_waiter(key, generation))]
        return sum(map(self._is_held, (folder / name for name in names)))

    def _lock_file(self, key: str, generation: int) -> Path:
        return self._files.at("locks", f"{key}.{generation}")

    def _is_held(self, path: Path) -> bool:
        """True if a lock file is held; one that is not is removed."""
        with self._files.store_errors("lock", path):
            descriptor = acquire(path)
        if descriptor is not None:
            release(path, descriptor)
        return descriptor is None


def _waiter(key: str, generation: int) -> str:
    """Return the ending of the names of the files that processes lock to wait for a step's result."""
    return safe(f"-waits-for-{key}.{generation}")


class LocalStore(DurableStore[Path]):
    """A `Store` in a folder, which is made when something is first written."""

    files: LocalFiles

    def __init__(self, root: Path, *, read_only: bool = False, level: str = "") -> None:
        files = LocalFiles(root.resolve(), read_only)
        super().__init__(files, Ownership(files), level)
