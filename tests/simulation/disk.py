"""Crash states of a folder: all that a power cut can leave of a sequence of file operations.

The operations on a folder are recorded as they are made. A state is: those before some moment, without up to
three of those that were not made durable by then. A file's contents are durable after fsync of the file, a
name after fsync of its folder; nothing else is, and what is not durable is lost in any combination. What is
lost of contents may also be their second half.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

DEEPEST = 3  # operations that are lost together

Inode = int
Name = tuple[Inode, str]  # a folder, and a name in it


class Write(NamedTuple):
    """A file gets contents; `before` are those that it had."""

    inode: Inode
    data: bytes


class Names(NamedTuple):
    """At once, names come to stand for a file or a folder, or (None) for nothing."""

    changes: tuple[tuple[Name, Inode | None], ...]


class Sync(NamedTuple):
    """What was done before to a file, or to the names in a folder, is durable."""

    inode: Inode


Operation = Write | Names | Sync


@dataclass
class Tree:
    """A tree of files; the root is inode 0.

    names  what each name stands for
    data   contents of files; folders have none
    """

    names: dict[Name, Inode] = field(default_factory=dict)
    data: dict[Inode, bytes] = field(default_factory=dict)
    folders: set[Inode] = field(default_factory=lambda: {0})

    def apply(self, operation: Operation, *, torn: bool = False) -> None:
        """Do an operation; `torn`: of its contents, only the first half."""
        match operation:
            case Write(inode, data):
                self.data[inode] = data[: len(data) // 2] if torn else data
            case Names(changes):
                for name, target in changes:
                    if target is None:
                        self.names.pop(name, None)
                    else:
                        self.names[name] = target

    def files(self) -> dict[str, tuple[bytes, Inode] | None]:
        """Path → contents and inode, or None for a folder: as far as it can be reached from the root."""
        below: dict[Inode, list[tuple[str, Inode]]] = {}
        for (folder, name), inode in self.names.items():
            below.setdefault(folder, []).append((name, inode))
        found: dict[str, tuple[bytes, Inode] | None] = {}
        to_do = [("", 0)]
        while to_do:
            path, folder = to_do.pop()
            for name, inode in below.get(folder, ()):
                if inode in self.folders:
                    found[f"{path}{name}"] = None
                    to_do.append((f"{path}{name}/", inode))
                else:
                    found[f"{path}{name}"] = self.data.get(inode, b""), inode
        return found


class Recorder:
    """Records what is done below a folder, which is looked at before and after each call of the system."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.operations: list[Operation] = []
        self.marks: dict[str, int] = {}
        self._inodes: dict[int, Inode] = {os.lstat(root).st_ino: 0}
        self._next: Inode = 0
        self.tree = Tree()
        self._look()
        self.begun = len(self.operations)  # what was there before is durable

    def mark(self, name: str) -> None:
        """Note that something has been done, as its caller knows."""
        self._look()
        self.marks[name] = len(self.operations)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record within the block."""
        with ExitStack() as stack:
            for name in ("link", "rename", "replace", "unlink", "remove", "mkdir", "rmdir", "fsync", "close"):
                stack.enter_context(patch.object(os, name, self._recorded(name, getattr(os, name))))
            yield
        self._look()

    def _recorded(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def recorded(*args: Any, **kwargs: Any) -> Any:
            self._look()  # what was done by other calls meanwhile
            if name == "fsync":
                found = os.fstat(args[0]).st_ino
                if found in self._inodes:
                    self._note(Sync(self._inodes[found]))
            value = call(*args, **kwargs)
            self._look()
            return value

        return recorded

    def _note(self, operation: Operation) -> None:
        self.operations.append(operation)
        self.tree.apply(operation)

    def _look(self) -> None:
        """Note what has changed since the last look, by what the folder looks like."""
        names: dict[Name, Inode] = {}
        data: dict[Inode, bytes] = {}
        for parent, folders, files in os.walk(self.root):
            folder = self._inode(os.lstat(parent))
            for name in folders:
                inode = names[folder, name] = self._inode(os.lstat(os.path.join(parent, name)))
                self.tree.folders.add(inode)
            for name in files:
                path = os.path.join(parent, name)
                inode = names[folder, name] = self._inode(os.lstat(path))
                with open(path, "rb") as file:
                    data[inode] = file.read()
        there = {0, *names.values()}
        self._inodes = {number: inode for number, inode in self._inodes.items() if inode in there}
        changes = [(name, inode) for name, inode in names.items() if self.tree.names.get(name) != inode]
        gone = [(name, None) for name in self.tree.names.keys() - names.keys()]
        if changes or gone:
            self._note(Names((*changes, *gone)))
        for inode, contents in data.items():
            if self.tree.data.get(inode, b"") != contents:
                self._note(Write(inode, contents))

    def _inode(self, found: os.stat_result) -> Inode:
        """The number of a file in the model: the system uses its own ones again."""
        if found.st_ino not in self._inodes:
            self._inodes[found.st_ino] = self._next = self._next + 1
        return self._inodes[found.st_ino]


@dataclass(frozen=True)
class State:
    """What a power cut leaves.

    moment  how many operations had been begun
    lost    those of them that it takes
    """

    moment: int
    lost: tuple[int, ...]
    files: tuple[tuple[str, bytes | None], ...]


def states(recorder: Recorder) -> Iterator[State]:
    """All crash states, those of the last moment first, each once for all that had been done by then."""
    seen: set[object] = set()
    for moment in range(len(recorder.operations), recorder.begun - 1, -1):
        known = tuple(sorted(name for name, at in recorder.marks.items() if at <= moment))
        loose = _not_durable(recorder, moment)
        for number in range(min(DEEPEST, len(loose)) + 1):
            for lost in itertools.combinations(loose, number):
                for torn in (False, True) if any(_is_write(recorder, at) for at in lost) else (False,):
                    files = _left(recorder, moment, lost, torn=torn)
                    if (known, files) not in seen:
                        seen.add((known, files))
                        yield State(moment, lost, files)


def _is_write(recorder: Recorder, at: int) -> bool:
    return isinstance(recorder.operations[at], Write)


def _not_durable(recorder: Recorder, moment: int) -> list[int]:
    """The operations before a moment that a power cut may take."""
    loose: list[int] = []
    for at in range(recorder.begun, moment):
        operation = recorder.operations[at]
        if isinstance(operation, Sync):
            loose = [one for one in loose if not _is_durable(recorder.operations[one], operation.inode)]
        else:
            loose.append(at)
    return loose


def _is_durable(operation: Operation, synced: Inode) -> bool:
    """True if fsync of a file or folder makes an operation durable: a rename, by its new name's folder."""
    match operation:
        case Write(inode, _):
            return inode == synced
        case Names(changes):
            folders = {folder for (folder, _), inode in changes if inode is not None} or {
                folder for (folder, _), _ in changes
            }
            return synced in folders
    return False


def _left(
    recorder: Recorder, moment: int, lost: tuple[int, ...], *, torn: bool
) -> tuple[tuple[str, bytes | None], ...]:
    tree = Tree(folders=recorder.tree.folders)
    for at, operation in enumerate(recorder.operations[:moment]):
        if at not in lost:
            tree.apply(operation)
        elif torn and isinstance(operation, Write):
            tree.apply(operation, torn=True)
    return tuple(sorted((path, None if found is None else found[0]) for path, found in tree.files().items()))


def restore(state: State, root: Path) -> None:
    """Make a folder that looks like a state."""
    root.mkdir()
    for path, data in state.files:
        target = root / path
        if data is None:
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(0o444)
