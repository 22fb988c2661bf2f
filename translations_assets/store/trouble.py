"""What to tell when a folder's file system could not do something."""

from __future__ import annotations

import errno
from pathlib import Path

from translations_assets.errors import StoreError, StoreUnreachable

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}
_AWAY = {
    *(errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN, errno.EHOSTDOWN),
    *(errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EREMOTEIO, errno.ESHUTDOWN),
}


def trouble(root: Path, doing: str, error: OSError) -> StoreError:
    """The error to raise, with what to do next: StoreUnreachable when it may pass."""
    kind = StoreUnreachable if error.errno in _AWAY else StoreError
    return kind(_explain(root, doing, error))


def _explain(root: Path, doing: str, error: OSError) -> str:
    problem = f"The store {root} could not {doing}: {error.strerror or error}."
    if root.exists() and not root.is_dir():
        return f"{problem} The store must be a folder, and this is a file: choose another path."
    if error.errno == errno.ENOTDIR:
        return f"{problem} A file stands where it needs a folder: choose another path."
    if error.errno in _FULL:
        return f"{problem} What is stored is whole. Free some space, then run again."
    if error.errno in _FORBIDDEN:
        return (
            f"{problem} Check owner and mode of the folder and its disk, or choose another store. How users "
            "share one: docs/deployment.md, Who trusts whom."
        )
    return f"{problem} Check the disk it is on, then run again."
