"""Environments of their own for programs whose libraries clash with the scripts', made when first needed.

One is made from a lock with hashes, for the Python that scripts run on, and found again by the digest of
both, in the folder that TRANSLATIONS_ENVIRONMENTS names, else in the user's cache folder.
"""

import fcntl
import hashlib
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

from pipeline.common.errors import TemporaryError

logger = logging.getLogger(__name__)

COMPLETE = "complete"  # the file in an environment that is made last


def interpreter(lock: Path) -> Path:
    """The Python of the environment of a lock, as `uv pip compile --generate-hashes` writes it.

    The first call makes it, which takes a minute and the network; others wait. Raises TemporaryError when
    that fails.
    """
    folder = folder_of(lock)
    if not _is_whole(folder):  # else the folder may be an image's, where nothing can be written
        _make_once(folder, lock)
    return folder / "bin" / "python"


def folder_of(lock: Path) -> Path:
    """The folder of a lock's environment.

    Its Python is a link to the one that made it: machines with others, and later ones, have their own.
    """
    digest = hashlib.sha256(lock.read_bytes())
    digest.update(f"{sys.version_info[:2]} {Path(sys.executable).resolve()}".encode())
    return _environments() / digest.hexdigest()[:16]


def _is_whole(folder: Path) -> bool:
    return (folder / COMPLETE).exists() and (folder / "bin" / "python").exists()


def _make_once(folder: Path, lock: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not _is_whole(folder):
            _make(folder, lock)
            (folder / COMPLETE).touch()


def _environments() -> Path:
    named = os.environ.get("TRANSLATIONS_ENVIRONMENTS")
    return Path(named) if named else Path.home() / ".cache" / "translations-assets" / "environments"


def _make(folder: Path, lock: Path) -> None:
    logger.info("making the environment of %s in %s", lock.name, folder)
    shutil.rmtree(folder, ignore_errors=True)  # what an earlier process has begun
    python = str(folder / "bin" / "python")
    quiet = ("-q", "--disable-pip-version-check", "--no-input")
    for command in (
        [sys.executable, "-m", "venv", str(folder)],
        [python, "-m", "pip", "install", *quiet, "--no-deps", "--require-hashes", "-r", str(lock)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, env=_environment(), check=False)
        if done.returncode:
            raise TemporaryError(
                f"The environment of {lock.name} could not be made: {' '.join(command)} ended with "
                f"{done.returncode}: {(done.stderr or done.stdout).strip()[-1000:]}"
            )


def _environment() -> dict[str, str]:
    """The script's own, without what would lead another Python to the script's libraries."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
