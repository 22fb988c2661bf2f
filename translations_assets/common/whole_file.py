"""Small files that are replaced: they have the old contents or the new ones, never a part."""

from __future__ import annotations

import secrets
from pathlib import Path


def write_whole(path: Path, contents: str | bytes, mode: int | None = None) -> None:
    """Write a file atomically, text as UTF-8; a link stays a link.

    mode  of the file; by default that of the file that it replaces

    A device or a pipe is written to. If it raises OSError (a full disk, above all), the earlier file is
    unchanged. Contents of different processes do not mix: the last ones count.
    """
    target, written = path.resolve(), contents.encode() if isinstance(contents, str) else contents
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        if target.exists() and not target.is_file():  # a device, a pipe: nothing can stand in its place
            target.write_bytes(written)
            return
        new.write_bytes(written)
        if mode is not None:
            new.chmod(mode)
        elif target.exists():
            new.chmod(target.stat().st_mode)
        new.replace(target)
    except OSError as error:
        error.filename = error.filename or str(path)  # Python names none of a full disk
        raise
    finally:
        new.unlink(missing_ok=True)


def keep_newest(folder: Path, most: int) -> None:
    """Remove all but the newest files of a folder, except files that are being written. Raises OSError."""
    files = [path for path in folder.iterdir() if not path.name.startswith(".")]
    for path in sorted(files, key=lambda path: path.stat().st_mtime_ns)[:-most]:
        path.unlink(missing_ok=True)
