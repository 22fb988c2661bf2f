"""Owners of a local store's steps: locks that the kernel frees when their holder ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from translations_assets.store.files import Files
from translations_assets.store.locks import is_held, release, take, take_new
from translations_assets.store.names import safe


class Ownership:
    """`Owners` of the steps of a store in a folder."""

    fenced = False  # the kernel keeps the ownership up, so that it is never lost

    def __init__(self, files: Files) -> None:
        self._files = files

    def token(self, key: str, generation: int) -> int:
        """Nothing that matters, as owners are not fenced."""
        return 0

    @contextmanager
    def lock(self, key: str, generation: int, lost: Callable[[str], None] | None = None) -> Iterator[bool]:
        """Try to become the owner of a step's generation; False at once when another process is."""
        path = self._lock_file(key, generation)
        with self._files.telling("lock", path):
            self._files.make_folder(path.parent)
            descriptor = take(path)
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                release(path, descriptor)

    def is_owned(self, key: str, generation: int) -> bool:
        """Whether a process owns a step's generation now."""
        path = self._lock_file(key, generation)
        with self._files.telling("look at", path):
            held = is_held(path)
        if not held:
            self._files.check()
        return held

    def disown(self, finished: Collection[tuple[str, int]]) -> None:
        """Remove the lock files that owners of finished steps left who were killed."""
        folder, names = self._files.at("locks"), {f"{key}.{generation}" for key, generation in finished}
        for name in names.intersection(self._files.names(folder)):
            self._is_held(folder / name)

    @contextmanager
    def waiting(self, key: str, generation: int) -> Iterator[None]:
        """Be counted among those who want a step's result, by a locked file: the dead do not count."""
        folder = self._files.at("tmp")
        with self._files.telling("write to", folder):
            self._files.make_folder(folder)
            path, descriptor = take_new(folder, _waiter(key, generation))
        try:
            yield
        finally:
            release(path, descriptor)

    def waiters(self, key: str, generation: int) -> int:
        """How many want a step's result now."""
        folder = self._files.at("tmp")
        names = [name for name in self._files.names(folder) if name.endswith(_waiter(key, generation))]
        return sum(map(self._is_held, (folder / name for name in names)))

    def _lock_file(self, key: str, generation: int) -> Path:
        return self._files.at("locks", f"{key}.{generation}")

    def _is_held(self, path: Path) -> bool:
        """Whether a lock file is held; one that is not is removed."""
        with self._files.telling("lock", path):
            descriptor = take(path)
        if descriptor is not None:
            release(path, descriptor)
        return descriptor is None


def _waiter(key: str, generation: int) -> str:
    """How the names of the files end that those hold who want a step's result."""
    return safe(f"-waits-for-{key}.{generation}")
