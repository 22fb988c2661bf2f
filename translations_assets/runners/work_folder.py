"""Work folders: a fresh one for each attempt, locked while its worker lives, swept when it does not."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path

from translations_assets.common.errors import DamagedError, StoreError
from translations_assets.records.bundle import MOST_BYTES, BundleError
from translations_assets.records.bundle import unpack as unpack_bundle
from translations_assets.store.locks import acquire, acquire_new, release, share_folder

_SWEEP_SECONDS = 2.0
_BLOCK = 512  # bytes, the unit of st_blocks (stat(2))
_NAME = re.compile(r"[0-9a-f]{8}")  # of `acquire_new`: nothing else is removed


class WorkFolder:
    """The paths of a work folder, which is also the script's current folder.

    code         the bundle
    inputs       `in`, the inputs, read-only
    outputs      `out`, made by the script
    temporary    TMPDIR of the script; the whole path is kept short, since sockets are made there
    checkpoints  sets of a resumable step
    progress     live numbers, a JSON object a line
    log          what the script prints
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.code = path / "code"
        self.inputs = path / "in"
        self.outputs = path / "out"
        self.temporary = path / "tmp"
        self.checkpoints = path / "checkpoints"
        self.progress = path / "progress.jsonl"
        self.log = path / "log.txt"

    def make(self) -> None:
        """Make the folder and those that the script expects to find."""
        for folder in (self.path, self.code, self.inputs, self.temporary, self.checkpoints):
            folder.mkdir()

    def size(self) -> int:
        """Bytes of the disk that the script has filled: outputs, temporary files, checkpoints.

        A file counts once, however many names it has, as checkpoint sets have the same files.
        """
        found = chain.from_iterable(map(_files, (self.outputs, self.temporary, self.checkpoints)))
        return sum({(file.st_dev, file.st_ino): file.st_blocks * _BLOCK for file in found}.values())


@contextmanager
def work_folder(root: Path) -> Iterator[WorkFolder]:
    """A new folder below `root`, removed at the end. Raises OSError."""
    root.mkdir(parents=True, exist_ok=True)
    share_folder(root)
    lock, descriptor = acquire_new(root, ".lock")
    path = lock.with_suffix("")
    try:
        folder = WorkFolder(path)
        folder.make()
        yield folder
    finally:
        _remove(path)
        release(lock, descriptor)


def sweep(root: Path) -> None:
    """Remove the folders of workers that were killed, and end what is left of their scripts.

    Raises StoreError when a symbolic link stands in for the root: what is behind it is not to be removed.
    """
    if root.is_symlink():
        raise StoreError(f"{root} is a symbolic link. No work folders are created behind links: remove it.")
    with suppress(FileNotFoundError):
        for name in filter(_NAME.fullmatch, {name.removesuffix(".lock") for name in os.listdir(root)}):
            with suppress(OSError):  # another user's, who looks after it; a link in the place of a lock
                _sweep_folder(root / name)


def _sweep_folder(path: Path) -> None:
    lock = path.with_name(path.name + ".lock")
    if (descriptor := acquire(lock)) is not None:
        end_processes(path)
        _remove(path)
        release(lock, descriptor)


def end_processes(path: Path) -> None:
    """Kill every process that was started for a work folder, known by the TMPDIR that only those have."""
    mark = f"TMPDIR={path / 'tmp'}".encode()
    deadline = time.monotonic() + _SWEEP_SECONDS
    while _kill_marked(mark) and time.monotonic() < deadline:
        time.sleep(0.02)


def unpack(bundle: Path, folder: Path, name: str) -> None:
    """Unpack a code bundle. Raises DamagedError for what is none, before anything of it is made.

    name  of the bundle, for people
    """
    try:
        with bundle.open("rb") as file:
            unpack_bundle(file.read(MOST_BYTES + 1), folder)
    except BundleError as error:
        raise DamagedError(
            f"The code bundle {name} cannot be used: {error}. Start a new run: it bundles the code of the "
            "checkout again. To look for damage: translations cache verify"
        ) from error


def _kill_marked(mark: bytes) -> int:
    """Kill the live processes that have the mark in their environment; how many there were."""
    return sum(_kill_if_marked(int(name), mark) for name in os.listdir("/proc") if name.isdecimal())


def _kill_if_marked(pid: int, mark: bytes) -> bool:
    try:
        process = os.pidfd_open(pid)  # stands for this very process, also once its number is another's
    except OSError:
        return False
    try:
        if mark not in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            return False
        signal.pidfd_send_signal(process, signal.SIGKILL)
        return True
    except OSError:  # ended meanwhile, or another user's
        return False
    finally:
        os.close(process)


def _files(folder: Path) -> Iterator[os.stat_result]:
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                yield os.lstat(os.path.join(parent, name))


def _remove(path: Path) -> None:
    """Remove a folder, also what the script made read-only; what resists is left to the next sweep."""
    if path.is_symlink():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path, onerror=partial(_remove_read_only, str(path.parent)))


def _remove_read_only(root: str, function: Callable[..., object], path: str, _: object) -> None:
    with suppress(OSError):
        for folder in (os.path.dirname(path), path):
            if folder != root and not os.path.islink(folder) and os.path.isdir(folder):
                os.chmod(folder, stat.S_IRWXU)
        if os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)
