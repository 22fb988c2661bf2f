"""Checks that a store's file system shares locks among machines, as far as its mount tells."""

from __future__ import annotations

import fcntl
import os
import re
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from translations_assets.common.errors import StoreError

_MOUNTS = Path("/proc/self/mountinfo")  # proc(5)
_ESCAPED = re.compile(r"\\([0-7]{3})")  # a space, a tab, a line's end, a backslash; all else stands as it is
_ADVICE = "Use NFS 4.1 or newer, Lustre mounted with -o flock, GPFS, CephFS, or a store in a bucket"


class Mount(NamedTuple):
    """A mounted file system: its type and options."""

    kind: str
    options: frozenset[str]


def check_locks(url: str, mounts: Path = _MOUNTS) -> None:
    """Raise StoreError when several machines cannot use a store in a folder, as owners of steps lock them.

    A file system that is mounted in a way that keeps locks to one machine looks as if it worked.

    mounts  the mounted file systems, as of /proc/self/mountinfo
    """
    if not url.startswith("file://"):
        return
    folder = Path(unquote(urlsplit(url).path))
    while not folder.exists():
        folder = folder.parent
    trouble = _trouble(mount_of(folder, mounts)) or _refusal(folder)
    if trouble:
        raise StoreError(f"The store {url} cannot be shared by several machines: {trouble}. {_ADVICE}.")


def mount_of(folder: Path, mounts: Path = _MOUNTS) -> Mount:
    """The file system that holds a folder."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").rstrip("\n").split("\n")
    except OSError:  # not Linux's
        return Mount("", frozenset())
    found, place = Mount("", frozenset()), ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields, (kind, _, *super_options) = before.split(" "), after.split(" ")
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), fields[4])
        if folder.is_relative_to(point) and len(point) >= len(place):  # of equal ones the last is on top
            options = {*fields[5].split(","), *",".join(super_options).split(",")}
            found, place = Mount(kind, frozenset(options)), point
    return found


def _trouble(mount: Mount) -> str:
    """Explain what keeps locks to one machine; empty where nothing does."""
    options = mount.options
    if mount.kind in ("nfs", "nfs4") and options & {"nolock", "local_lock=all", "local_lock=flock"}:
        return "NFS is mounted with locks of its own on each machine (nolock, local_lock)"
    if mount.kind == "lustre" and "localflock" in options:
        return "Lustre is mounted with locks of its own on each machine (localflock)"
    if mount.kind == "lustre" and "flock" not in options:
        return "Lustre is mounted without locks (flock)"
    return ""


def _refusal(folder: Path) -> str:
    """Explain why a lock is refused there; empty where it is not, or nothing may be written."""
    try:
        with TemporaryFile(dir=folder) as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except PermissionError:
        return ""
    except OSError as error:
        return f"its file system refuses locks ({os.strerror(error.errno or 0)})"
    return ""
