"""The wheel, built and installed in an environment of its own that borrows the libraries of this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from translations_assets.settings import repository_root

OWN = ("TRANSLATIONS_", "DAGSTER_", "PYTHON", "VIRTUAL_ENV")  # variables that would lead to the checkout


@dataclass(frozen=True)
class Installed:
    """The programs of an environment, run in a folder."""

    programs: Path
    folder: Path

    def run(self, *words: str, code: int = 0) -> str:
        """What a program prints on standard output; it must end with the exit code."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
        environment["DAGSTER_HOME"] = str(self.folder / ".state" / "dagster")
        command = [str(self.programs / words[0]), *words[1:]]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout


def install_wheel(folder: Path) -> Path:
    """Build the wheel and install it below a folder; returns the folder of its programs."""
    environment = folder / "venv"
    _uv("venv", "-q", "--python", sys.executable, str(environment))
    paths = {"base": str(environment), "platbase": str(environment)}
    site_packages = Path(sysconfig.get_path("purelib", "venv", paths))
    # A path in a .pth brings the libraries, and not the checkout, to which a .pth among them leads
    (site_packages / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    _uv(
        "pip",
        "install",
        "-q",
        "--offline",
        "--no-deps",
        "--python",
        str(environment),
        str(build_wheel(folder)),
    )
    return environment / "bin"


def build_wheel(folder: Path) -> Path:
    """Build the wheel of the checkout, with what the lock of builds pins."""
    locked = ("--build-constraints", "requirements/build.lock", "--require-hashes")
    _uv("build", "-q", "--wheel", "--offline", *locked, "-o", str(folder / "dist"), ".")
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


def _uv(*words: str) -> None:
    root = repository_root()
    program = shutil.which("uv") or str(root / ".tools" / "bin" / "uv")
    command: Sequence[str] = [program, *words]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
