"""The wheel, built and installed with the libraries of a laptop in an environment of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from translations_assets.common.settings import repository_root

OWN = ("TRANSLATIONS_", "DAGSTER_", "PYTHON", "VIRTUAL_ENV")  # variables that would lead to the checkout

LOCKED_BUILD = ("--build-constraints", "requirements/build.lock", "--require-build-hashes")


@dataclass(frozen=True)
class Installed:
    """The programs of an environment, run in a folder."""

    programs: Path
    folder: Path

    def run(self, *words: str) -> str:
        """Standard output of a program, which must succeed."""
        done = self._done(words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def failed(self, *words: str) -> str:
        """Standard error of a program that must end with exit code 1."""
        done = self._done(words)
        assert done.returncode == 1, done.stdout + done.stderr
        return done.stderr

    def _done(self, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
        environment["DAGSTER_HOME"] = str(self.folder / ".state" / "dagster")
        command = [str(self.programs / words[0]), *words[1:]]
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )


def install_wheel(folder: Path, python: str = sys.executable) -> Path:
    """Build the wheel and install it below a folder; returns the folder of its programs.

    Offline where its libraries are those of this Python's.
    """
    environment = folder / "venv"
    _uv("venv", "-q", "--python", python, str(environment))
    offline = ("--offline",) if python == sys.executable else ()
    install = ("pip", "install", "-q", *offline, "--python", str(environment))
    _uv(*install, *LOCKED_BUILD, "--require-hashes", "--no-deps", "-r", "requirements/laptop.lock")
    _uv(*install, str(build_wheel(folder)))  # with what it asks for: it must be there already
    _uv("pip", "check", "--python", str(environment))
    return environment / "bin"


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the checkout, with what the lock of builds pins."""
    locked = (*LOCKED_BUILD[:2], "--require-hashes")
    _uv("build", "-q", "--wheel", "--offline", *locked, "-o", str(folder / "dist"), ".")
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def _uv(*words: str) -> None:
    root = repository_root()
    program = shutil.which("uv") or str(root / ".tools" / "bin" / "uv")
    command: Sequence[str] = [program, *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
