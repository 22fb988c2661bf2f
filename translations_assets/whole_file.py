"""Small text files that are renewed: the old text stands there, or the new one, never a part."""

from __future__ import annotations

import secrets
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a text file, at once in place of an earlier one, whose mode it keeps; a link stays one.

    Raises OSError (a full disk, above all), and the earlier file is as it was. Texts of different processes
    do not mix: the last one counts.
    """
    target = path.resolve()
    new = target.with_name(f".{target.name}.{secrets.token_hex(4)}.new")
    try:
        new.write_text(text, encoding="utf-8", newline="")
        if target.exists():
            new.chmod(target.stat().st_mode)
        new.replace(target)
    finally:
        new.unlink(missing_ok=True)
