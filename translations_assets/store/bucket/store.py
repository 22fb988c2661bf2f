"""The store in a bucket, shared by all machines that may use it.

Laid out as the store in a folder (`store.local`), but for checkpoints, which have their owner's token in
their path, and for what locks are for there: leases/, waiting/ and sessions/ of those who are at work now.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.records.encoding import safe
from translations_assets.records.manifest import Blob
from translations_assets.store.bucket.leases import LAPSED_AFTER, PERIOD, Leases
from translations_assets.store.bucket.objects import Objects, ServiceClock, Stat
from translations_assets.store.bucket.transfer import PIECE, digests_of, download, pieces_of, store_errors
from translations_assets.store.contents import Digests, copy_pieces, digest_bytes
from translations_assets.store.durable import DurableStore
from translations_assets.store.medium import FOLDERS, LEVEL_MARK, Medium, StoredFile, quarantined
from translations_assets.store.node_cache import NodeCache

_BEGAN = "began"  # noted with what is replaced: when it was first written, in ns
_REPLACED = 5  # tries to write a file that others write, too
_THREADS = 16
_AHEAD = 32  # files that are read, or waited for, before they are asked for
_LAPSE = (LAPSED_AFTER + 0.5) * PERIOD  # seconds
_POLL_SECONDS = 2.0
FRESH = 3600 * 10**9  # ns after a touch in which there is no other: an object may change once a second only
_CLOCKS = 600 * 10**9  # ns by which our clock and the service's may differ


class BucketFiles(Medium[PurePosixPath]):
    """The files below a bucket's prefix. Folders exist while they hold something, and all is durable.

    A bucket needs no mark, as one that is not there is no empty one, and has no symbolic links.
    """

    folders: Collection[str] = (*FOLDERS, "leases", "waiting", "sessions", "clock", LEVEL_MARK)

    def __init__(self, objects: Objects, leases: Leases, read_only: bool = False) -> None:
        self.objects, self._leases, self.read_only = objects, leases, read_only
        self.root, self.url = PurePosixPath(), objects.url
        self._lost = ""  # why the store's lock was lost, if it was

    def __str__(self) -> str:
        return self.url

    def at(self, *names: str) -> PurePosixPath:
        """A path below the root; each name becomes one safe file name."""
        return PurePosixPath("/".join(map(safe, names)))

    def names(self, folder: PurePosixPath | str) -> list[str]:
        """List a folder, in no order; empty when it does not exist."""
        objects, folders = self.objects.folder(_prefix(folder))
        return [*(found.name.rpartition("/")[2] for found in objects), *folders]

    def entries(self, folder: PurePosixPath) -> Iterator[StoredFile]:
        """The files in a folder."""
        for found in self.objects.folder(_prefix(folder))[0]:
            name = found.name.rpartition("/")[2]
            version = found.generation, found.metageneration
            yield StoredFile(found.name, name, found.size, _modified(found), linked=False, version=version)

    def bytes_below(self, path: PurePosixPath) -> int:
        """The bytes of all files below a folder, or those of a file; 0 when it does not exist."""
        return sum(found.size for found in self._below(path))

    def walk(self, folder: PurePosixPath) -> Iterator[PurePosixPath]:
        """Every file below a folder, in order."""
        for found in self.objects.walk(_prefix(folder)):
            yield PurePosixPath(found.name)

    def size(self, path: PurePosixPath) -> int | None:
        """A file's size in bytes, None when it does not exist."""
        found = self.objects.stat(str(path))
        return found.size if found else None

    def modified(self, path: PurePosixPath) -> int:
        """Return the time a file was last written (or, by `replace`, first), in ns; 0 when there is none.

        Of a folder, the latest time of the files below it.
        """
        return max(map(_modified, self._below(path)), default=0)

    def began(self, folder: PurePosixPath) -> dict[str, int]:
        """The time at which each file in a folder was first written, in ns, by its name."""
        if self.objects.lists_notes:
            return super().began(folder)
        paths = [folder / name for name in self.names(folder)]
        with ThreadPoolExecutor(_THREADS) as pool:
            looked_up = zip(paths, pool.map(self.modified, paths), strict=True)
            return {path.name: began for path, began in looked_up if began}

    def read(self, path: PurePosixPath) -> bytes | None:
        """A file's contents, None when it does not exist."""
        found = self.objects.read(str(path))
        return found[0] if found else None

    def read_all(self, paths: Iterable[PurePosixPath]) -> Iterator[tuple[PurePosixPath, bytes | None]]:
        """Each file and its contents, in order; the next ones are on their way meanwhile."""
        coming: deque[tuple[PurePosixPath, Future[bytes | None]]] = deque()
        with ThreadPoolExecutor(_THREADS) as pool:
            for path in paths:
                coming.append((path, pool.submit(self.read, path)))
                if len(coming) > _AHEAD:
                    first, data = coming.popleft()
                    yield first, data.result()
            for first, data in coming:
                yield first, data.result()

    def create(self, path: PurePosixPath, data: bytes, durable: bool = True) -> bool:
        """Make a file, always durable; False when the name is taken."""
        return self.objects.create(str(path), data)

    def replace(self, path: PurePosixPath, data: bytes) -> None:
        """Write a file atomically; it keeps the `modified` of the file that it replaces.

        An earlier write that the service carries out only now, long after it was given up, changes nothing.
        """
        for _ in range(_REPLACED):
            found = self.objects.stat(str(path))
            notes = {_BEGAN: str(_modified(found))} if found else None
            if self.objects.replace(str(path), data, found.generation if found else 0, notes) is not None:
                return
        raise StoreError(f"The file {path} in the bucket {self} is being written by others, too. Run again.")

    def touch(self, path: PurePosixPath, durable: bool = True) -> int | None:
        """Mark a file as used now, unless that was done within the last hour; its size."""
        found = self.objects.stat(str(path))
        if found and (time.time_ns() - found.modified < FRESH or self.objects.touch(found.name)):
            return found.size
        return None

    def discard(self, entry: StoredFile) -> None:
        """Remove a file unless it has changed, or was touched, since it was listed."""
        self.check_reserved()
        self.objects.delete(entry.path, *entry.version)

    def unlink(self, path: PurePosixPath) -> None:
        """Remove a file; nothing when it does not exist."""
        self.check_reserved()
        self.objects.delete(str(path))

    def remove(self, folder: PurePosixPath) -> None:
        """Remove a folder and what it holds, or a file; nothing when it does not exist."""
        self.unlink(folder)
        self._each(self.objects.delete, (found.name for found in self.objects.walk(_prefix(folder))))

    def move(self, path: PurePosixPath, target: PurePosixPath) -> None:
        """Rename a file; it replaces a file of the new name. It stays as well if it is changed meanwhile."""
        found = self.objects.stat(str(path))
        self.check_reserved()
        if found and self.objects.copy(found.name, str(target)):
            self.check_reserved()
            self.objects.delete(found.name, found.generation, found.metageneration)

    def renew(self, path: PurePosixPath) -> bool:
        """Mark a file as changed, so that a removal of it as it was is refused; False when there is none."""
        return self.objects.touch(str(path))

    def adopt(self, source: PurePosixPath, path: PurePosixPath) -> bool:
        """Give a file a second name and touch it; False when the name is taken."""
        return self.objects.copy(str(source), str(path), replace=False)

    def set_aside(self, path: PurePosixPath, reason: str) -> None:
        """Move a damaged file, or a folder, to `quarantine/` with the reason next to it."""
        if self.read_only:
            return
        name, note = quarantined(path, reason)
        target = PurePosixPath("quarantine", name)
        below = {found.name: f"{target}{found.name.removeprefix(str(path))}" for found in self._below(path)}
        if not below:
            return
        self.objects.write(f"{target}.reason.json", note)
        self._each(lambda name: self.move(PurePosixPath(name), PurePosixPath(below[name])), below)

    # Contents
    def measure(self, source: Path) -> Digests:
        """The digests of a file."""
        with store_errors("read", source):
            return digests_of(source)

    def send(self, source: Path, path: PurePosixPath, digests: Digests) -> bool:
        """Make a file with the contents of one of this machine; False when the name is taken."""
        with store_errors("read", source):
            return self.objects.upload(source, str(path), digests)

    def save(self, source: Path, path: PurePosixPath) -> Digests:
        """Make a file with the contents of one of this machine."""
        digests = self.measure(source)
        self.send(source, path, digests)
        return digests

    def fetch(self, path: PurePosixPath, blob: Blob, target: Path, writable: bool = False) -> Blob | None:
        """Download contents to a path. Large ones grow in a file next to it, where another try continues."""
        with store_errors("write", target):
            if writable:
                target.parent.mkdir(parents=True, exist_ok=True)
            came = self._at_once(path, target) if blob.size <= PIECE else self._gather(path, blob, target)
            if came == blob:
                target.chmod(0o644 if writable else 0o444)
            return came

    def _at_once(self, path: PurePosixPath, target: Path) -> Blob | None:
        data = self.read(path)
        if data is None:
            return None
        target.write_bytes(data)
        return digest_bytes(data)

    def _gather(self, path: PurePosixPath, blob: Blob, target: Path) -> Blob | None:
        """Download contents by way of a file that may hold their beginning already."""
        found = self.objects.stat(str(path))
        if found is None or found.size != blob.size:
            return Blob("", found.size) if found else None
        part = target.with_name(f".{blob.digest[:32]}.part")
        came = download(self.objects, found, part)
        if came == blob:
            os.replace(part, target)
            return came
        came_as_sent = found.crc32c in ("", digests_of(part).crc32c)
        part.unlink()
        if came_as_sent:
            return came
        raise StoreUnreachable(f"{blob.digest} was corrupted on the way from {self}.")

    def digest(self, path: PurePosixPath) -> Blob | None:
        """Digest and size of a file, which is fetched for it, but not kept."""
        found = self.objects.stat(str(path))
        return copy_pieces(pieces_of(self.objects, found)) if found else None

    def is_whole(self, path: PurePosixPath, digests: Digests) -> bool | None:
        """True if a file has its contents, by the service's checksum; None if it is missing.

        True without a noted checksum: whoever reads the file compares its digest.
        """
        if not digests.crc32c:
            return True
        found = self.objects.stat(str(path))
        return found.crc32c == digests.crc32c if found else None

    def mark_time(self) -> int:
        """A time by the service's clock, early enough for contents that are used without a touch."""
        return ServiceClock(self.objects, time.monotonic).now() - FRESH - _CLOCKS

    @contextmanager
    def reserved(self, name: str, alone: bool = False) -> Iterator[bool]:
        """Hold a lock of the whole store, always alone; False when another process holds it.

        It is waited for long enough to notice that its holder has died.
        """
        until = time.monotonic() + _LAPSE
        self._lost = ""
        while True:
            with self._leases.lock(name, 0, self._note_lost) as mine:
                if mine or time.monotonic() >= until:
                    yield mine
                    return
            time.sleep(_POLL_SECONDS)

    def _note_lost(self, reason: str) -> None:
        self._lost = reason

    def check_reserved(self) -> None:
        """Raise StoreError when a lock of the whole store was lost: another process may hold it by now."""
        self._leases.confirm()
        if self._lost:
            raise StoreError(
                f"The lock of {self} was lost, and nothing more is done: {self._lost}. Run again."
            )

    def _below(self, path: PurePosixPath) -> Iterator[Stat]:
        """A file, or the files of a folder."""
        found = self.objects.stat(str(path))
        return iter([found]) if found else self.objects.walk(_prefix(path))

    def _each(self, do: Callable[[str], object], names: Iterable[str]) -> None:
        with ThreadPoolExecutor(_THREADS) as pool:
            for _ in pool.map(do, names):
                pass


def _prefix(folder: PurePosixPath | str) -> str:
    """Return the prefix of the names of the objects in a folder."""
    return "" if str(folder) == "." else f"{folder}/"


def _modified(found: Stat) -> int:
    return int(found.notes.get(_BEGAN, found.modified))


class BucketStore(DurableStore[PurePosixPath]):
    """A `Store` in a bucket, which must exist.

    cache  keeps what is placed on this machine, for all of its steps
    """

    files: BucketFiles
    look_ups = 32  # each is two requests, and waits for their answers
    rewrite_seconds = 1.0  # the service's limit for one object

    def __init__(
        self,
        objects: Objects,
        leases: Leases | None = None,
        *,
        cache: NodeCache | None = None,
        read_only: bool = False,
        level: str = "",
    ) -> None:
        if not read_only:
            objects = objects.for_store()
        leases = leases or Leases(objects)
        super().__init__(BucketFiles(objects, leases, read_only), leases, level)
        self._cache = cache

    def add_blob(self, path: Path) -> Blob:
        """Store a file's contents; with a cache the next step on this machine reads them there."""
        blob = super().add_blob(path)
        if self._cache:
            self._cache.add(blob, path)
        return blob

    def place_blob(self, blob: Blob, target: Path) -> None:
        """Put the contents at a path, read-only, digest verified. Raises DamagedError."""
        if self._cache:
            self._cache.place(blob, target, super().place_blob)
        else:
            super().place_blob(blob, target)
