"""Which code this is."""

from __future__ import annotations

import subprocess
from pathlib import Path


def revision(root: Path) -> str:
    """The checkout's commit, with `+changes` when files differ from it; empty when it is no checkout.

    An image has it in a file, from when it was built.
    """
    try:
        git = ["git", "-C", str(root)]
        commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        status = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        file = root / "revision"
        return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    return commit.stdout.strip() + ("+changes" if status.stdout.strip() else "")
