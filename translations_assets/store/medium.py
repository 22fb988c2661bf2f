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
        """The files in a folder, in no order; what is removed meanwhile may be left out."""

    def bytes_below(self, path: P) -> int:
        """The bytes of all files below a folder, or those of a file; 0 when it does not exist."""

    def walk(self, folder: P) -> Iterator[P]:
        """Every file below a folder, in order."""

    def size(self, path: P) -> int | None:
        """A file's size in bytes, None when it does not exist."""

    def modified(self, path: P) -> int:
        """Return the time a file was last written (or, by `replace`, first), in ns; 0 when there is none.

        Of a folder, when something in it was, about.
        """

    def read(self, path: P) -> bytes | None:
        """A file's contents, None when it does not exist."""

    def read_all(self, paths: Iterable[P]) -> Iterator[tuple[P, bytes | None]]:
        """Each file and its contents, in order; where that takes its time, several are read at once."""
        return ((path, self.read(path)) for path in paths)

    def create(self, path: P, data: bytes, durable: bool = True) -> bool:
        """Make a file; False when the name is taken."""

    def replace(self, path: P, data: bytes) -> None:
        """Write a file, at once in place of an earlier one, whose `modified` it keeps."""

    def touch(self, path: P, durable: bool = True) -> int | None:
        """Mark a file as used now, unless that was done lately; its size, None when it does not exist."""

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
        """Give a file another name, in place of what had it."""

    def adopt(self, source: P, path: P) -> bool:
        """Give a file a second name, touched; False when that is taken."""

    def sync(self, path: P) -> None:
        """Make a folder's entries durable, where writing did not; nothing when it does not exist."""
        return None

    def damaged_mark(self) -> P | None:
        """The file that tells a store from another folder, when its contents are not what they were."""
        return None

    def foreign(self) -> Iterator[P]:
        """Every symbolic link in the store, which makes none."""
        return iter(())

    def set_aside(self, path: P, reason: str) -> None:
        """Move a damaged file to `quarantine/` with the reason next to it.

        Nothing when it does not exist, or the store is only read.
        """

    # Contents
    def measure(self, source: Path) -> Digests:
        """Compute the digests of a file of this machine, by which `send` compares."""

    def send(self, source: Path, path: P, digests: Digests) -> bool:
        """Make a file with the contents of one of this machine; False when the name is taken.

        StoreError when these are not, or no longer, those of the digests.
        """

    def save(self, source: Path, path: P) -> Digests:
        """Make a file the cheapest way, where only the caller writes: the source may become the same file."""

    def fetch(self, path: P, blob: Blob, target: Path, writable: bool = False) -> Blob | None:
        """Put contents at a path of this machine, the cheapest way; the digest of what came, None if missing.

        What came is of no use unless it is the digest that is asked for.
        """

    def digest(self, path: P) -> Blob | None:
        """Digest and size of a file, read again; None when it does not exist."""

    def is_whole(self, path: P, digests: Digests) -> bool | None:
        """True if a file of the right size has its contents, as cheaply as is safe; None if it is missing."""

    def mark_time(self) -> int:
        """A time in ns by the clock of the files' times.

        Who relies on contents that were last touched before it has committed what names them by now.
        """

    def using_contents(self) -> AbstractContextManager[object]:
        """Keep contents from being removed that were touched before, or are in the block.

        By default nothing: `discard` removes none that was touched since it was listed.
        """
        return nullcontext()

    def removing_contents(self) -> AbstractContextManager[object]:
        """Keep all processes from relying on contents that they find, while some are removed."""
        return nullcontext()

    def reserved(self, name: str, alone: bool = False) -> AbstractContextManager[bool]:
        """Hold a lock of the whole store, shared or alone; False when another process's is in the way."""


def quarantined(path: PurePath, reason: str) -> tuple[str, bytes]:
    """The name that a damaged file gets in `quarantine/`, and the note that is put next to it."""
    note = json.dumps({"path": str(path), "reason": reason, "time": time.time()})
    return f"{'.'.join(path.parts[-2:])}.{time.time_ns()}", f"{note}\n".encode()


def aside(files: Medium[P]) -> str:
    """Return the treatment of a damaged file, in words for people."""
    return "left there, because the store is read-only" if files.read_only else "moved to quarantine/"


class FencedOwners(Owners, Protocol):
    """Owners whose numbers tell a later one from an earlier one."""

    fenced: bool  # an owner may lose a step unawares: what it saves has its token in the path

    def token(self, key: str, generation: int) -> int:
        """A number greater than those of all owners before; StoreError when the step was lost."""


def warn(message: str) -> None:
    """Log a warning as `translations_assets.store`."""
    import logging

    logging.getLogger("translations_assets.store").warning("%s", message)
