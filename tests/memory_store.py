"""A bucket in this process: for tests and simulations of what uses a store; nothing survives the process."""

from __future__ import annotations

import threading
import time
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from translations_assets.store.bucket.objects import Objects, Stat, was_deleted
from translations_assets.store.bucket.store import BucketStore
from translations_assets.store.bucket.transfer import digests_of_pieces
from translations_assets.store.contents import Digests, changed


class MemoryObjects(Objects):
    """Objects with the conditions of a service; safe for use by several threads.

    now  the service's clock, in ns
    """

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._guard = threading.RLock()
        self._found: dict[str, tuple[bytes, Stat]] = {}
        self._names: list[str] = []  # in order
        self._generation = 0

    @property
    def url(self) -> str:
        """A name for people: no other process can open it."""
        return f"memory://{id(self):x}"

    def hurried(self, seconds: float) -> MemoryObjects:
        """This bucket: every request is answered at once."""
        return self

    def read(self, name: str) -> tuple[bytes, int] | None:
        """An object's contents and generation."""
        found = self._found.get(name)
        return (found[0], found[1].generation) if found else None

    def create(self, name: str, data: bytes) -> bool:
        """Write an object that is not there yet."""
        return self.replace(name, data, 0) is not None

    def replace(
        self, name: str, data: bytes, generation: int, notes: Mapping[str, str] | None = None
    ) -> int | None:
        """Write an object in place of a generation (0: of none)."""
        with self._guard:
            found = self.stat(name)
            there = found.generation if found else 0
            return self.put(name, data, notes) if there == generation else None

    def write(self, name: str, data: bytes) -> None:
        """Write an object, whatever is there."""
        self.put(name, data)

    def put(self, name: str, data: bytes, notes: Mapping[str, str] | None = None) -> int:
        """Write an object: its generation."""
        with self._guard:
            self._generation += 1
            now, checksum = self._now(), digests_of_pieces([data]).crc32c
            stat = Stat(name, len(data), self._generation, 1, now, now, checksum, notes or {})
            if name not in self._found:
                insort(self._names, name)
            self._found[name] = (data, stat)
            return self._generation

    def upload(self, path: Path, name: str, digests: Digests) -> bool:
        """Write a file's contents to an object; False when the name is taken."""
        data = path.read_bytes()
        if digests_of_pieces([data]).blob != digests.blob:
            raise changed(path)
        return self.create(name, data)

    def read_range(self, found: Stat, start: int, end: int) -> bytes:
        """Bytes of the object that was found."""
        there = self.read(found.name)
        if there is None or there[1] != found.generation:
            raise was_deleted(found, self)
        return there[0][start:end]

    def copy(self, name: str, target: str, *, replace: bool = True) -> bool:
        """Write an object's contents, and what is noted with it, under another name."""
        with self._guard:
            found = self._found.get(name)
            if found is None or (not replace and target in self._found):
                return False
            self.put(target, found[0], found[1].notes)
            return True

    def delete(self, name: str, generation: int | None = None, metageneration: int | None = None) -> bool:
        """Remove an object, if it still is what was seen."""
        with self._guard:
            found = self.stat(name)
            if (
                found is None
                or generation not in (None, found.generation)
                or metageneration not in (None, found.metageneration)
            ):
                return False
            del self._found[name]
            del self._names[bisect_left(self._names, name)]
            return True

    def touch(self, name: str) -> bool:
        """Set the time of an object's last change to now."""
        with self._guard:
            if name not in self._found:
                return False
            data, known = self._found[name]
            changed = known._replace(metageneration=known.metageneration + 1, modified=self._now())
            self._found[name] = (data, changed)
            return True

    def stat(self, name: str) -> Stat | None:
        """Facts about an object."""
        found = self._found.get(name)
        return found[1] if found else None

    def walk(self, prefix: str) -> Iterator[Stat]:
        """The objects whose names begin with a prefix, as they are now, in order."""
        with self._guard:
            first, end = (bisect_left(self._names, name) for name in (prefix, f"{prefix}\U0010ffff"))
            return iter([self._found[name][1] for name in self._names[first:end]])

    def folder(self, folder: str) -> tuple[list[Stat], list[str]]:
        """Objects and folders directly below a folder."""
        found = {known.name.removeprefix(folder): known for known in self.walk(folder)}
        below = {name.partition("/")[0] for name in found if "/" in name}
        return [known for name, known in found.items() if "/" not in name], sorted(below)


class MemoryStore(BucketStore):
    """A `Store` in this process."""

    look_ups = 1
    rewrite_seconds = 0.0

    def __init__(self) -> None:
        super().__init__(MemoryObjects())
