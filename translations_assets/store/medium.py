"""The medium of a store: named files, in a folder or a bucket."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePath
from typing import NamedTuple, Protocol, TypeVar

from translations_assets.records.manifest import Blob
from translations_assets.running.protocols import Owners
from translations_assets.store.contents import Digests

FOLDERS = (
    *("blobs", "steps", "retired", "logs", "checkpoints"),
    *("runs", "refs", "pins", "publications", "configs", "quarantine"),
)
LEVEL_MARK = "level.json"  # at the root: the level of trust that the place was set up for (`store.levels`)

P = TypeVar("P", bound=PurePath)


class StoredFile(NamedTuple):
    """A file in a folder.

    size      in bytes
    modified  see `Medium.modified`
    linked    whether it has other names
    version   changes with each change and touch, where that is known
    """

    path: str
    name: str
    size: int
    modified: int
    linked: bool
    version: tuple[int, int] = (0, 0)


class Medium(Protocol[P]):
    """Files that exist under their names whole or not at all; see `files.Files` for a folder's.

    A path need not be one of this machine: only the medium that made it with `at` opens it. Every method
    raises StoreError, StoreUnreachable when what is wrong may pass.
    """

    read_only: bool  # what is damaged stays where it is
    url: str  # what `open_store` opens the store by
    root: P  # what all paths begin with
    folders: Collection[str]  # the names of all folders (and files) that a store makes at its root

    def __str__(self) -> str:
        """The location, for people."""

    def at(self, *names: str) -> P:
        """A path below the root; each name becomes one safe file name."""

    def names(self, folder: P | str) -> list[str]:
        """List a folder, in no order; empty when it does not exist."""

    def entries(self, folder: P) -> Iterator[StoredFile]:
        """The files in a folder, in no order; files that are removed meanwhile may be missing."""

    def bytes_below(self, path: P) -> int:
        """The bytes of all files below a folder, or those of a file; 0 when it does not exist."""

    def walk(self, folder: P) -> Iterator[P]:
        """Every file below a folder, in order."""

    def size(self, path: P) -> int | None:
        """A file's size in bytes, None when it does not exist."""

    def modified(self, path: P) -> int:
        """Return the time a file was last written (or, by `replace`, first), in ns; 0 when there is none.

        For a folder: about the time when something in it was last written.
        """

    def began(self, folder: P) -> dict[str, int]:
        """The time at which each file in a folder was first written, in ns, by its name."""
        return {entry.name: entry.modified for entry in self.entries(folder)}

    def read(self, path: P) -> bytes | None:
        """A file's contents, None when it does not exist."""

    def read_all(self, paths: Iterable[P]) -> Iterator[tuple[P, bytes | None]]:
        """Each file and its contents, in order; several are read at once where reading is slow."""
        return ((path, self.read(path)) for path in paths)

    def create(self, path: P, data: bytes, durable: bool = True) -> bool:
        """Make a file; False when the name is taken."""

    def replace(self, path: P, data: bytes) -> None:
        """Write a file atomically; it keeps the `modified` of the file that it replaces."""

    def touch(self, path: P, durable: bool = True) -> int | None:
        """Mark a file as used now, unless it was lately. Return its size, None when it does not exist."""

    def renew(self, path: P) -> bool:
        """Mark a file as changed, so that a removal of it as it was is refused; False when there is none.

        A service may carry out a request later than its caller waits for. By default none is late.
        """
        return self.touch(path) is not None

    def discard(self, entry: StoredFile) -> None:
        """Remove a file unless it was touched since it was listed, where that is known."""

    def unlink(self, path: P) -> None:
        """Remove a file; nothing when it does not exist."""

    def remove(self, folder: P) -> None:
        """Remove a folder and what it holds, or a file; nothing when it does not exist."""

    def remove_empty(self, folder: P) -> None:
        """Remove a folder that holds nothing, where there is such a thing; one that holds something stays."""
        return None

    def move(self, path: P, target: P) -> None:
        """Rename a file; it replaces a file of the new name."""

    def adopt(self, source: P, path: P) -> bool:
        """Give a file a second name and touch it; False when the name is taken."""

    def sync(self, path: P) -> None:
        """Make a folder's entries durable, where writing did not; nothing when it does not exist."""
        return None

    def damaged_mark(self) -> P | None:
        """The file that marks a folder as a store, if it is damaged; else None."""
        return None

    def foreign(self) -> Iterator[P]:
        """Every symbolic link in the store; the store itself makes none."""
        return iter(())

    def set_aside(self, path: P, reason: str) -> None:
        """Move a damaged file to `quarantine/` with the reason next to it.

        Do nothing when it does not exist, or the store is read-only.
        """

    # Contents
    def measure(self, source: Path) -> Digests:
        """Compute the digests of a file of this machine, by which `send` compares."""

    def send(self, source: Path, path: P, digests: Digests) -> bool:
        """Make a file with the contents of one of this machine; False when the name is taken.

        Raises StoreError when the contents do not, or no longer, have these digests.
        """

    def save(self, source: Path, path: P) -> Digests:
        """Make a file of one of this machine the cheapest way; both may be the same file afterwards.

        So the source must not be written any more, and no other process may make this file.
        """

    def fetch(self, path: P, blob: Blob, target: Path, writable: bool = False) -> Blob | None:
        """Put contents at a path of this machine, the cheapest way.

        Return the digest of what arrived, None if the file is missing. The caller must compare it with the
        one that it asked for.
        """

    def digest(self, path: P) -> Blob | None:
        """Digest and size of a file, read again; None when it does not exist."""

    def is_whole(self, path: P, digests: Digests) -> bool | None:
        """True if a file of the right size has its contents, as cheaply as is safe; None if it is missing."""

    def mark_time(self) -> int:
        """A time in ns by the clock of the files' times.

        Whoever relies on contents that were last touched before this time has committed what names them.
        """

    def using_contents(self) -> AbstractContextManager[object]:
        """Within the block, contents that were touched before it, or in it, are not removed.

        By default nothing is locked: `discard` removes no file that was touched since it was listed.
        """
        return nullcontext()

    def removing_contents(self) -> AbstractContextManager[object]:
        """Within the block, no process begins to rely on contents that it finds."""
        return nullcontext()

    def reserved(self, name: str, alone: bool = False) -> AbstractContextManager[bool]:
        """Hold a lock of the whole store, shared or alone; False when another process holds it."""

    def check_reserved(self) -> None:
        """Raise StoreError when the lock that `reserved` gave was lost, as by a machine that slept.

        By default a lock is held until it is released.
        """
        return None


def quarantined(path: PurePath, reason: str) -> tuple[str, bytes]:
    """Return the name of a damaged file in `quarantine/`, and the note that is put next to it."""
    note = json.dumps({"path": str(path), "reason": reason, "time": time.time()})
    return f"{'.'.join(path.parts[-2:])}.{time.time_ns()}", f"{note}\n".encode()


def aside(files: Medium[P]) -> str:
    """Return the treatment of a damaged file, in words for people."""
    return "left there, because the store is read-only" if files.read_only else "moved to quarantine/"


class FencedOwners(Owners, Protocol):
    """Owners with numbers, by which a later owner is known from an earlier one."""

    fenced: bool  # an owner may lose a step without noticing: its token is in the paths of what it saves

    def token(self, key: str, generation: int) -> int:
        """A number greater than those of all owners before; StoreError when the step was lost."""


def warn(message: str) -> None:
    """Log a warning as `translations_assets.store`."""
    import logging

    logging.getLogger("translations_assets.store").warning("%s", message)
