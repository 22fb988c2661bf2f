"""The revision of this code, and the address of its repository."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path


def revision(root: Path) -> str:
    """The checkout's commit, with `+changes` when files differ from it; empty when it is no checkout.

    An image and a wheel have it in a file, from when they were built.
    """
    found, status = _git(root, "rev-parse", "HEAD"), _git(root, "status", "--porcelain")
    if not found or status is None:
        return _written(root / "revision")
    return found + ("+changes" if status else "")


def commit(root: Path) -> str:
    """The commit that is checked out, or that an image was built from; empty when there is none."""
    return _git(root, "rev-parse", "HEAD") or _written(root / "revision").removesuffix("+changes")


def web_address(root: Path) -> str:
    """The page of the repository that the checkout is of, by its remote `origin`; empty when there is none.

    An image and a wheel have it in a file. `git@example.org:team/translations.git` is shown at
    `https://example.org/team/translations`.
    """
    remote = _git(root, "config", "--get", "remote.origin.url")
    if remote is None:
        return _written(root / "repository")
    found = re.fullmatch(
        r"(?:(?:https?|ssh|git)://)?(?:[^/@]*@)?([\w.-]+)(?::\d+)?[:/](.+?)(?:\.git)?/?", remote
    )
    is_elsewhere = found and "." in found[1] and not remote.startswith(("/", "."))
    return f"https://{found[1]}/{found[2]}" if found and is_elsewhere else ""


def _written(file: Path) -> str:
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""


def _git(root: Path, *words: str) -> str | None:
    """Run git and return its output; None when it fails, is missing, or the folder is no checkout itself.

    A wheel may be installed below somebody's checkout of something else.
    """
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
