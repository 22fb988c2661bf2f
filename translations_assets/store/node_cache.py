"""A machine's cache of what it has downloaded: a folder that all its steps and processes share.

    blobs/ab/abcd…              contents by SHA-256, read-only; the least recently used go when room is needed
    downloads/<digest>.<size>   locked by who downloads them, to the folder `<digest>.<size>.part`
    lock                        held while room is made

Whatever goes wrong in here costs a download, never the step.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from translations_assets.common.errors import DamagedError, StoreError, StoreUnreachable
from translations_assets.records.manifest import Blob
from translations_assets.store.contents import READ_ONLY, NotPlainError, clone, open_plain, place
from translations_assets.store.locks import acquire, acquire_kept, flock, release
from translations_assets.store.medium import warn

_POLL_SECONDS = 0.1
_LARGEST_ADDED = 1 << 30  # bytes; copying a larger file takes long, and perhaps it is never asked for here
_PART = ".part"
_OTHERS = stat.S_IWGRP | stat.S_IWOTH

Download = Callable[[Blob, Path], None]


class _Kept(NamedTuple):
    """A file that is here; sorted by when it was last used."""

    used: int
    size: int
    path: Path


class NodeCache:
    """Contents by digest, in a folder of limited size; safe for use by many processes.

    Inputs of steps are hard links to the files in here, and a script may have changed one: so the digest is
    verified each time that a file is placed. Reading it once is cheaper than a copy for each step; time and
    size would not show a change that keeps them.

    private  whether nobody else may write to the folder, as where there are levels of trust: who writes to it
             could change an input after it was verified, or lead our own writing elsewhere by a link
    """

    def __init__(self, folder: Path, most: int, *, private: bool = False) -> None:
        self._folder, self._most, self._private = folder, most, private

    def place(self, blob: Blob, target: Path, download: Download) -> None:
        """Put contents at a path, read-only; if they are not here, one process downloads them first.

        Raises what `download` raises: DamagedError, StoreUnreachable, StoreError.
        """
        try:
            if self._place(blob, target, download):
                return
        except (DamagedError, StoreUnreachable):
            raise
        except (OSError, StoreError) as error:  # a full disk, a folder of another user
            warn(f"{blob.digest} is fetched without the cache {self._folder}: {error}")
            target.unlink(missing_ok=True)
        download(blob, target)

    def add(self, blob: Blob, source: Path) -> None:
        """Keep a copy of a file that was stored, unless it is large: the next step may read it here."""
        if blob.size > _LARGEST_ADDED:
            return
        with suppress(OSError, StoreError), self._writing(blob, wait=False) as new:
            if new and not self._file(blob).exists() and self._make_room(blob.size):
                clone(source, new, link=False)
                self._keep(blob, new)

    def _place(self, blob: Blob, target: Path, download: Download) -> bool:
        """Put contents at a path; False when there is no room for them in the cache."""
        self._check_private()
        if self._place_kept(blob, target):
            return True
        with self._writing(blob, wait=True) as new:
            if self._place_kept(blob, target):  # another process has downloaded them meanwhile
                return True
            if new is None or not self._make_room(blob.size):
                return False
            download(blob, new)
            place(new, target, link=True)
            self._keep(blob, new)
        return True

    def _check_private(self) -> None:
        """Raise StoreError when others may write to a folder that must be private. It is made if missing."""
        if not self._private:
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = os.lstat(self._folder)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
            raise StoreError(
                f"others may write to {self._folder}. Give each level of trust a cache "
                "(TRANSLATIONS_CACHE) in a folder of its own user"
            )

    def _place_kept(self, blob: Blob, target: Path) -> bool:
        """Put contents that are here at a path, verified; damaged ones are removed."""
        path = self._file(blob)
        try:
            with open(open_plain(path), "rb") as kept:
                fcntl.flock(kept, fcntl.LOCK_SH)  # so that it is not removed to make room
                is_sized = os.fstat(kept.fileno()).st_size == blob.size
                if is_sized and place(path, target, link=True) == blob:
                    _mark_used(path)
                    return True
        except FileNotFoundError:
            return False
        except NotPlainError:
            pass
        warn(f"{path} is damaged, or a script has changed it: it is downloaded again.")
        target.unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        return False

    def _keep(self, blob: Blob, new: Path) -> None:
        path = self._file(blob)
        path.parent.mkdir(parents=True, exist_ok=True)
        new.chmod(READ_ONLY)
        _mark_used(new)
        os.rename(new, path)

    @contextmanager
    def _writing(self, blob: Blob, wait: bool) -> Iterator[Path | None]:
        """Be the only process that brings contents here, and get the file to make; None instead of waiting.

        If the store is away, or this process is killed, the next one continues the file.
        """
        self._check_private()
        lock = self._folder / "downloads" / f"{blob.digest}.{blob.size}"
        lock.parent.mkdir(parents=True, exist_ok=True)
        while (descriptor := acquire(lock)) is None:
            if not wait:
                yield None
                return
            time.sleep(_POLL_SECONDS)
        try:
            folder = _part(lock)
            folder.mkdir(exist_ok=True)
            yield folder / "contents"
        except StoreUnreachable:
            os.close(descriptor)
            raise
        except BaseException:
            _discard(lock, descriptor)
            raise
        _discard(lock, descriptor)

    def _make_room(self, size: int) -> bool:
        """Remove the least recently used files until what is here or on its way, ours included, fits."""
        descriptor = acquire_kept(self._folder / "lock", alone=True, wait=True)
        try:
            kept = _files(self._folder / "blobs")
            total = sum(file.size for file in kept)
            excess = total + self._expected() - self._most
            if excess > total:
                return False
            for file in sorted(kept):
                if excess <= 0 and _free(self._folder) >= size:
                    break
                excess -= file.size if _remove(file.path) else 0
            return excess <= 0 and _free(self._folder) >= size
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _expected(self) -> int:
        """Bytes that are being downloaded now, by any process; what ended ones have begun is removed."""
        total = 0
        for path in (self._folder / "downloads").iterdir():
            size = path.suffix[1:]
            if not size.isdecimal():
                continue
            descriptor = acquire(path)
            if descriptor is None:
                total += int(size)
            else:
                _discard(path, descriptor)
        return total

    def _file(self, blob: Blob) -> Path:
        return self._folder / "blobs" / blob.digest[:2] / blob.digest


def _part(lock: Path) -> Path:
    return lock.with_name(lock.name + _PART)


def _discard(lock: Path, descriptor: int) -> None:
    """Remove what is left of a download, whose lock is held."""
    shutil.rmtree(_part(lock), ignore_errors=True)
    release(lock, descriptor)


def _remove(path: Path) -> bool:
    """Remove a file; False when a process places it now."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return True
    if not flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
        return False
    try:
        path.unlink(missing_ok=True)
    finally:
        os.close(descriptor)
    return True


def _mark_used(path: Path) -> None:
    """Note the time in atime; mtime tells whether a script has changed its input, which may be this file."""
    with suppress(OSError):
        os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))


def _files(folder: Path) -> list[_Kept]:
    files = []
    for path in folder.glob("*/*"):
        with suppress(FileNotFoundError):  # removed meanwhile
            found = path.stat()
            files.append(_Kept(found.st_atime_ns, found.st_size, path))
    return files


def _free(folder: Path) -> int:
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize
