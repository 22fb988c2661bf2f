"""What the parts of a store that are alike everywhere are made of: named files, in a folder or a bucket."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import PurePath
from typing import NamedTuple, Protocol, TypeVar

FOLDERS = (
    *("blobs", "steps", "retired", "logs", "checkpoints"),
    *("runs", "refs", "pins", "configs", "quarantine"),
)

P = TypeVar("P", bound=PurePath)


class Entry(NamedTuple):
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
    """Files that stand under their names whole or not at all; see `files.Files` for a folder's.

    A path need not be one of this machine: only the medium that made it with `at` opens it. Every method
    raises StoreError, StoreUnreachable when what is wrong may pass.
    """

    read_only: bool  # what is damaged stays where it is

    @property
    def root(self) -> P:
        """What all paths begin with."""

    def __str__(self) -> str:
        """Where it is, for people."""

    def at(self, *names: str) -> P:
        """A path below the root; each name becomes one safe file name."""

    def names(self, folder: P | str) -> list[str]:
        """What a folder holds, in no order; nothing when it does not exist."""

    @property
    def folders(self) -> Collection[str]:
        """The names of all folders that a store makes at its root."""

    def entries(self, folder: P) -> Iterator[Entry]:
        """The files in a folder, in no order; what is removed meanwhile may be left out."""

    def bytes_below(self, path: P) -> int:
        """The bytes of all files below a folder, or those of a file; 0 when it is gone."""

    def walk(self, folder: P) -> Iterator[P]:
        """Every file below a folder, in order."""

    def size(self, path: P) -> int | None:
        """A file's size in bytes, None when it does not exist."""

    def modified(self, path: P) -> int:
        """When a file was last written (or, by `replace`, first), in ns; 0 when it does not exist.

        Of a folder, when something in it was, about.
        """

    def read(self, path: P) -> bytes | None:
        """A file's contents, None when it does not exist."""

    def read_all(self, paths: Iterable[P]) -> Iterator[tuple[P, bytes | None]]:
        """Each file and its contents, in order; where that takes its time, several are read at once."""

    def create(self, path: P, data: bytes, durable: bool = True) -> bool:
        """Make a file; False when the name is taken."""

    def replace(self, path: P, data: bytes) -> None:
        """Write a file, at once in place of an earlier one, whose `modified` it keeps."""

    def touch(self, path: P, durable: bool = True) -> bool:
        """Mark a file as used now; False when it is gone."""

    def discard(self, entry: Entry) -> None:
        """Remove a file unless it was touched since it was listed, where that can be told."""

    def unlink(self, path: P) -> None:
        """Remove a file; nothing when it is gone."""

    def remove(self, folder: P) -> None:
        """Remove a folder and what it holds, or a file; nothing when it is gone."""

    def remove_empty(self, folder: P) -> None:
        """Remove a folder that holds nothing; one that does stays."""

    def move(self, path: P, target: P) -> None:
        """Give a file another name, in place of what had it."""

    def adopt(self, source: P, path: P) -> bool:
        """Give a file a second name, touched; False when that is taken."""

    def sync(self, path: P) -> None:
        """Make a folder's entries durable."""

    def damaged_mark(self) -> P | None:
        """The file that tells a store from another folder, when its contents are not what they were."""

    def foreign(self) -> Iterator[P]:
        """Every symbolic link in the store, which makes none."""

    def set_aside(self, path: P, reason: str) -> None:
        """Move a damaged file to `quarantine/` with the reason beside it.

        Nothing when it is gone, or the store is only read.
        """

    def reserved(self, name: str, alone: bool = False) -> AbstractContextManager[bool]:
        """Hold a lock of the whole store, shared or alone; gives False when somebody else's is in the way."""


def aside(files: Medium[P]) -> str:
    """What becomes of a damaged file, for people."""
    return "left there, as the store is only read" if files.read_only else "put aside in quarantine/"
