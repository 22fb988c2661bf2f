"""Durable files: the operations that every part of a local store is made of.

A file has its final name only when it is whole, even after a power cut. It is written to `tmp/`, made
durable, and linked to its name, which fails when the name is taken. Then its folder is made durable.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.records.encoding import safe
from translations_assets.records.inside import first_link
from translations_assets.store.contents import (
    MOST_IN_MEMORY,
    READ_BYTES,
    READ_ONLY,
    NotPlainError,
    make_durable,
    open_plain,
)
from translations_assets.store.locks import acquire, acquire_new, release, share_folder
from translations_assets.store.medium import FOLDERS, LEVEL_MARK, Medium, StoredFile, quarantined

MARK = "store.json"  # made with the store: a folder without it may be where the store is mounted, and is not
_FORMAT = b'{"format": 1}\n'
_REMEDIES = (
    (
        {errno.ELOOP, errno.EISDIR, errno.ENXIO},
        "A link, a folder or a pipe is there instead of a file: remove it.",
    ),
    ({errno.ENOTDIR}, "A file is where it needs a folder: choose another path."),
    (
        {errno.ENOSPC, errno.EDQUOT, errno.EFBIG},
        "Stored files are intact. Free some space, then run again.",
    ),
    (
        {errno.EACCES, errno.EPERM, errno.EROFS},
        "Check owner and mode of the folder and its disk, or choose another store. How users share one: "
        "docs/deployment.md, Who trusts whom.",
    ),
)
_AWAY = {
    *(errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN),
    *(errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EREMOTEIO, errno.ESHUTDOWN),
}


class Files(Medium[Path]):
    """The files below a store's root. Every method raises StoreError where Python would raise OSError."""

    folders: Collection[str] = (*FOLDERS, "locks", "tmp", "work", MARK, LEVEL_MARK)

    def __init__(self, root: Path, read_only: bool = False) -> None:
        self.root, self.url, self.read_only = root, root.as_uri(), read_only
        self._durable: set[Path] = set()  # folders whose own entries this process has made durable
        self._swept = False
        self._mark = f"{root}/{MARK}"
        self._marked = os.path.exists(self._mark)

    def at(self, *names: str) -> Path:
        """A path below the root; each name becomes one safe file name."""
        return Path(f"{self.root}/{'/'.join(map(safe, names))}")  # joinpath takes thrice as long

    def __str__(self) -> str:
        return str(self.root)

    def names(self, folder: Path | str) -> list[str]:
        """List a folder, in no order; empty when it does not exist, is a file, or behind a link."""
        with self.store_errors("list", folder):
            try:
                return [] if first_link(self.root, folder) else os.listdir(folder)
            except FileNotFoundError:
                self.check()
                return []
            except NotADirectoryError:
                if self.root.is_dir():  # a file that the store has not made
                    return []
                raise

    def walk(self, folder: Path) -> Iterator[Path]:
        """Every file below a folder, in order; no symbolic link is followed."""

        def refuse(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                raise self.trouble(f"list {folder}", error)
            self.check()

        if first_link(self.root, folder):
            return
        for parent, folders, names in os.walk(folder, onerror=refuse):
            folders.sort()
            for name in sorted(names):
                yield Path(parent) / name

    def entries(self, folder: Path) -> Iterator[StoredFile]:
        """Yield the entries of a folder, in no order; files removed meanwhile may be left out."""
        with self.store_errors("list", folder):
            if first_link(self.root, folder):
                return
            try:
                found = os.scandir(folder)
            except (FileNotFoundError, NotADirectoryError):
                self.check()
                return
            with found:
                for one in found:
                    try:
                        known = one.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    yield StoredFile(one.path, one.name, known.st_size, known.st_mtime_ns, known.st_nlink > 1)

    def size(self, path: Path) -> int | None:
        """A file's size in bytes, None when it does not exist."""
        found = self._stat(path)
        return found.st_size if found else None

    def modified(self, path: Path) -> int:
        """Return the time a file was last written (or, by `replace`, first), in ns; 0 when there is none."""
        found = self._stat(path)
        return found.st_mtime_ns if found else 0

    def _stat(self, path: Path) -> os.stat_result | None:
        with self.store_errors("look at", path):
            try:
                return os.lstat(path)
            except FileNotFoundError:
                self.check()
                return None

    def read(self, path: Path) -> bytes | None:
        """A file's contents, None when it does not exist.

        Empty, which no record is, for a symbolic link and for a file without an end.
        """
        with self.store_errors("read", path):
            try:
                with open(open_plain(path), "rb", buffering=0) as file:  # read_bytes takes half as long again
                    return file.read() if os.fstat(file.fileno()).st_size <= MOST_IN_MEMORY else b""
            except NotPlainError:
                return b""
            except FileNotFoundError:
                self.check()
                return None

    def create(self, path: Path, data: bytes, durable: bool = True) -> bool:
        """Make a read-only file, whole or not at all; False when the name is taken."""
        return self.write_new(path, lambda file: file.write(data), durable)

    def write_new(self, path: Path, write: Callable[[BinaryIO], object], durable: bool = True) -> bool:
        """Make a read-only file of what a function writes, as `create` does."""
        with self.store_errors("write", path), self._temporary() as (file, temporary):
            write(file)
            self._finish(file, READ_ONLY, durable)
            return self._link(temporary, path, durable)

    def adopt(self, source: Path, path: Path) -> bool:
        """Give a file of this file system a second name; it becomes read-only, and is no longer written."""
        with self.store_errors("write", path):
            with open(open_plain(source), "rb") as file:
                self._finish(file, READ_ONLY, durable=True)
            # Its writer may have ended long ago: the garbage collector goes by this
            return self.touch(source, durable=False) is not None and self._link(source, path, durable=True)

    def replace(self, path: Path, data: bytes) -> None:
        """Write a file atomically; its mtime is the time when the file that it replaces was first written."""
        with self.store_errors("write", path), self._temporary() as (file, temporary):
            file.write(data)
            self._finish(file, 0o644, durable=True)
            if began := self.modified(path):
                os.utime(temporary, ns=(time.time_ns(), began))
            self.make_folder(path.parent)
            os.rename(temporary, path)
            make_durable(path.parent)

    def touch(self, path: Path, durable: bool = True) -> int | None:
        """Mark a file as used now and make its folder durable; its size, None when it does not exist.

        The garbage collector spares what was touched lately.
        """
        with self.store_errors("touch", path):
            self._check_own(path)
            try:
                try:
                    os.utime(path, follow_symlinks=False)
                except PermissionError:
                    self._take_over(path)
                size = os.lstat(path).st_size
            except FileNotFoundError:
                self.check()
                return None
            if durable:
                self.make_folder(path.parent)
                make_durable(
                    path.parent
                )  # the process that made the file may have been killed before doing so
            return size

    def _take_over(self, path: Path) -> None:
        """Replace the file of another user, which only that user can touch, by a copy of our own."""
        with open(open_plain(path), "rb") as file, self._temporary() as (copy, temporary):
            shutil.copyfileobj(file, copy, READ_BYTES)
            self._finish(copy, READ_ONLY, durable=True)
            os.rename(temporary, path)

    def make_folder(self, folder: Path) -> None:
        """Make a folder and its parents, and their entries durable."""
        if folder in self._durable:
            return
        self.check()
        if folder != self.root:
            self.make_folder(folder.parent)
        folder.mkdir(parents=folder == self.root, exist_ok=True)
        if folder != self.root:
            self._check_own(folder / "new")
            share_folder(folder)
        elif not self._marked:
            self._make_mark()
        make_durable(folder.parent)
        self._durable.add(folder)

    def _check_own(self, path: Path | str) -> None:
        """Raise StoreError when a path leads out of the store: files there are not ours."""
        if link := first_link(self.root, os.path.dirname(path)):
            raise StoreError(f"The store {self.root} does not follow the symbolic link {link}. Remove it.")

    def check(self) -> None:
        """Raise StoreUnreachable when the store that was there is missing, as where a disk is not mounted."""
        if self._marked and not os.path.exists(self._mark) and not os.path.exists(f"{self.root}/blobs"):
            raise StoreUnreachable(
                f"The store {self.root} cannot be reached: its contents have disappeared. Is the disk "
                "mounted, is the server up? (If you removed the store on purpose, start again.)"
            )

    def damaged_mark(self) -> Path | None:
        """The file that marks a folder as a store, if it is damaged; else None."""
        mark = Path(self._mark)
        return mark if self.read(mark) not in (None, _FORMAT) else None

    def _make_mark(self) -> None:
        with suppress(FileExistsError), open(self._mark, "xb") as file:
            file.write(_FORMAT)
            self._finish(file, READ_ONLY, durable=True)
            make_durable(self.root)
        self._marked = True

    def sync(self, path: Path) -> None:
        """Make a file's contents, or a folder's entries, durable; nothing when it does not exist."""
        with self.store_errors("write", path), suppress(FileNotFoundError):
            make_durable(path)

    def remove(self, folder: Path) -> None:
        """Remove a folder and what it holds, or a file; nothing when it does not exist."""
        with self.store_errors("remove", folder), suppress(FileNotFoundError):
            self._check_own(folder)
            if folder.is_dir() and not folder.is_symlink():
                shutil.rmtree(folder)  # follows no symbolic link
            else:
                folder.unlink()
        below = f"{folder}/"
        self._durable = {known for known in self._durable if not f"{known}/".startswith(below)}

    def unlink(self, path: Path | str) -> None:
        """Remove a file; nothing when it does not exist."""
        with self.store_errors("remove", path), suppress(FileNotFoundError):
            self._check_own(path)
            os.unlink(path)

    def discard(self, entry: StoredFile) -> None:
        """Remove a file; the caller holds the lock that keeps others from touching it."""
        self.unlink(entry.path)

    def remove_empty(self, folder: Path) -> None:
        """Remove a folder that holds nothing; one that does stays."""
        with suppress(OSError):
            self._check_own(folder)
            folder.rmdir()

    def move(self, path: Path, target: Path) -> None:
        """Rename a file atomically; it replaces a file of the new name."""
        with self.store_errors("move", path):
            self._check_own(path)
            self.make_folder(target.parent)
            os.rename(path, target)

    def set_aside(self, path: Path, reason: str) -> None:
        """Move a damaged file to `quarantine/` with the reason next to it; nothing when it does not exist."""
        if self.read_only:
            return
        with self.store_errors("move aside the damaged", path):
            self._check_own(path)
            name, note = quarantined(path.relative_to(self.root), reason)
            target = self.root / "quarantine" / name
            self._durable.discard(target.parent)  # people remove this folder
            self.make_folder(target.parent)
            try:
                os.rename(path, target)
            except FileNotFoundError:
                return
            target.with_name(f"{name}.reason.json").write_bytes(note)

    def store_errors(self, doing: str, path: Path | str) -> AbstractContextManager[object]:
        """Turn an OSError into a StoreError that says what could not be done, why, and what to do next."""
        return _StoreErrors(self, doing, path)

    def trouble(self, doing: str, error: OSError) -> StoreError:
        """Make the error for an operation that failed: StoreUnreachable when that may pass."""
        self.check()
        kind = StoreUnreachable if error.errno in _AWAY else StoreError
        return kind(_explain(self.root, doing, error))

    def _finish(self, file: BinaryIO, mode: int, durable: bool) -> None:
        file.flush()
        # A file that is as it should be may be another's
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) != mode:
            os.fchmod(file.fileno(), mode)
        if durable:
            os.fsync(file.fileno())

    def _link(self, source: Path, path: Path, durable: bool) -> bool:
        try:
            linked = self._link_once(source, path)
        except FileNotFoundError:  # the garbage collector has removed the empty folder
            self._durable.difference_update({path.parent, *path.parent.parents})
            linked = self._link_once(source, path)
        if linked and durable:
            make_durable(path.parent)
        return linked

    def _link_once(self, source: Path, path: Path) -> bool:
        self.make_folder(path.parent)
        try:
            os.link(source, path)
        except FileExistsError:
            return False
        return True

    def _paths(self, folder: str) -> list[Path]:
        return [self.root / folder / name for name in self.names(self.root / folder)]

    @contextmanager
    def _temporary(self) -> Iterator[tuple[BinaryIO, Path]]:
        """A new file in `tmp/`, locked so that no sweep removes it while this process lives."""
        folder = self.root / "tmp"
        self.make_folder(folder)
        self._sweep()
        path, descriptor = acquire_new(folder)
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as file:
                yield file, path
        finally:
            release(path, descriptor)

    def _sweep(self) -> None:
        """Remove temporary files and step locks of killed processes; once per process is enough."""
        if self._swept:
            return
        self._swept = True
        locks = [path for path in self._paths("locks") if path.suffix[1:].isdecimal()]  # <key>.<generation>
        for path in (*self._paths("tmp"), *locks):
            with suppress(OSError):  # another user's, who was killed before it was shared; no plain file
                if (descriptor := acquire(path)) is not None:
                    release(path, descriptor)


class _StoreErrors(AbstractContextManager[object]):
    """See `Files.store_errors`; a class, as one made of a generator costs half as much as reading a file."""

    def __init__(self, files: Files, doing: str, path: Path | str) -> None:
        self._files, self._doing, self._path = files, doing, path

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise self._files.trouble(f"{self._doing} {self._path}", error) from error


def _explain(root: Path, doing: str, error: OSError) -> str:
    problem = f"The store {root} could not {doing}: {error.strerror or error}."
    if root.exists() and not root.is_dir():
        return f"{problem} The store must be a folder, and this is a file: choose another path."
    remedy = next((words for numbers, words in _REMEDIES if error.errno in numbers), None)
    return f"{problem} {remedy or 'Check the disk it is on, then run again.'}"
