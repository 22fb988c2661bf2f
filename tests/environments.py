"""Environments that some tests need besides the locked libraries: made once, in the user's cache folder.

    python -m tests.environments

installs the system's programs that are missing, where it can, and prints the environment variables by which
tests find the rest, one `NAME=value` a line. What exists is not made again: its folder is named after the
digest of what it is made from. What cannot be made is named and left out, and its tests are skipped; with
REQUIRE_ALL=1 the exit code is 1 then, but for what is OPTIONAL.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from deploy.local.postgres import programs as postgres
from deploy.local.processes import LocalError
from pipeline.common.environments import interpreter
from pipeline.common.errors import TemporaryError

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "translations-assets" / "tests"

# Program → Debian's package
PROGRAMS = {
    "chromium": "chromium",
    "initdb": "postgresql",
    "kubectl": "kubernetes-client",
    "mariadbd": "mariadb-server",
    "munged": "munge",
    "node": "nodejs",
    "npm": "npm",
    "openssl": "openssl",
    "sbatch": "slurm-client",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "slurmdbd": "slurmdbd",
    "strace": "strace",
}
SYSTEM = "/usr/sbin:/sbin"  # where Debian keeps daemons, off the path of most users
OTHER_PYTHON = "3.11" if sys.version_info[:2] == (3, 12) else "3.12"  # than this one
_PAUSES = (10.0, 60.0)  # seconds between tries, as registries fail for moments


class Unavailable(Exception):
    """Something could not be made; the message says why."""


def install_programs() -> None:
    """Install the system's programs that are missing. Raises Unavailable when that is not possible."""
    missing = [package for program, package in PROGRAMS.items() if not _is_installed(program)]
    if not missing:
        return
    if (root := _as_root()) is None or not shutil.which("apt-get"):
        raise Unavailable(f"programs are missing. On Debian or Ubuntu: apt-get install {' '.join(missing)}")
    apt = [*root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    _run([*apt, "update"])
    _run([*apt, "install", "--yes", "--no-install-recommends", *missing])


def opuscleaner() -> Path:
    """The interpreter of an environment with OpusCleaner."""
    return interpreter(REQUIREMENTS / "opuscleaner.lock")


def monocleaner() -> Path:
    """The interpreter of an environment with Monocleaner."""
    return interpreter(REQUIREMENTS / "monocleaner.lock")


def bicleaner() -> Path:
    """The interpreter of an environment with Bicleaner-AI, without CUDA's libraries (4 GB)."""
    lock = (REQUIREMENTS / "bicleaner.lock").read_text(encoding="utf-8")
    CACHE.mkdir(parents=True, exist_ok=True)
    path = CACHE / "bicleaner.cpu.lock"
    path.write_text(re.sub(r"^nvidia-.*\n(?:[ #].*\n)*", "", lock, flags=re.MULTILINE), encoding="utf-8")
    return interpreter(path)


def localstack() -> Path:
    """The interpreter of an environment with LocalStack, whose S3 is a second one for tests."""
    return interpreter(ROOT / "tests" / "store" / "s3-server.lock")


def browser_engine() -> Path:
    """The folder of browsers' translation engine, as npm installs it."""
    named = [REQUIREMENTS / "browser" / name for name in (".npmrc", "package.json", "package-lock.json")]
    return _made("browser", named, ["npm", "ci"]) / "node_modules" / "@browsermt" / "bergamot-translator"


def api_server() -> Path:
    """The folder of a real Kubernetes API server's programs; to build them takes some minutes and 2 GB."""
    if not _is_debian_12():
        raise Unavailable("tests/kube/build.sh builds a Kubernetes API server on Debian 12 for x86_64 only")
    return _made("kube", [ROOT / "tests" / "kube" / "build.sh"], ["bash", "build.sh"]) / "bin"


def other_python() -> Path:
    """The interpreter of the other Python that the project supports; uv fetches it where there is none."""
    program = shutil.which("uv") or str(ROOT / ".tools" / "bin" / "uv")
    of_pyenv = sorted(Path.home().glob(f".pyenv/versions/{OTHER_PYTHON}.*/bin/python"))  # uv looks for none
    python = str(of_pyenv[-1]) if of_pyenv else OTHER_PYTHON

    def make(folder: Path) -> None:
        _run([program, "venv", "-q", "--python", python, str(folder / "venv")])

    return kept("python", OTHER_PYTHON.encode(), make) / "venv" / "bin" / "python"


# Environment variable of the tests → what makes the file or folder that it names
ENVIRONMENTS: Mapping[str, Callable[[], Path]] = {
    "BERGAMOT_TRANSLATOR": browser_engine,
    "BICLEANER_PYTHON": bicleaner,
    "KUBE_BINARIES": api_server,
    "LOCALSTACK_PYTHON": localstack,
    "MONOCLEANER_PYTHON": monocleaner,
    "OPUSCLEANER_PYTHON": opuscleaner,
    "OTHER_PYTHON": other_python,
}
# Not every machine reaches Debian's mirror with sources, or the server of Pythons: see tests/allowed_skips.py
OPTIONAL = {"api_server", "other_python"}


def kept(name: str, made_from: bytes, make: Callable[[Path], object]) -> Path:
    """The folder of that name and of what it is made from; `make` fills it, unless another session has.

    It appears when `make` has returned; others who want it wait meanwhile.
    """
    folder = CACHE / f"{name}-{hashlib.sha256(made_from).hexdigest()[:16]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=CACHE, ignore_cleanup_errors=True) as temporary:
                work = Path(temporary) / name
                work.mkdir()
                make(work)
                work.rename(folder)
    return folder


def _made(name: str, files: Sequence[Path], command: Sequence[str]) -> Path:
    """The folder in which a command was run on copies of files."""

    def make(folder: Path) -> None:
        for file in files:
            shutil.copy(file, folder)
        _run(command, folder)

    return kept(name, b"".join(file.read_bytes() for file in files), make)


def _as_root() -> list[str] | None:
    """Prefix of a command that root has to run; None where nobody here may be root without a password."""
    if os.geteuid() == 0:
        return []
    sudo = ["sudo", "--non-interactive"]
    allowed = shutil.which("sudo") and not subprocess.run([*sudo, "true"], capture_output=True).returncode
    return sudo if allowed else None


def _is_installed(program: str) -> bool:
    if program == "initdb":  # Debian keeps it off the path
        try:
            return bool(postgres())
        except LocalError:
            return False
    return shutil.which(program, path=f"{os.environ['PATH']}:{SYSTEM}") is not None


def _is_debian_12() -> bool:
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        return False
    return (system["ID"], system.get("VERSION_ID"), platform.machine()) == ("debian", "12", "x86_64")


def _run(command: Sequence[str], folder: Path = ROOT) -> None:
    """Run a command. Raises TemporaryError with the end of what it said."""
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip()[-2000:]
        raise TemporaryError(f"{' '.join(command)} ended with {done.returncode}:\n{said}")


def _tried(make: Callable[[], Path | None]) -> Path | None:
    """Result of an action, retried after pauses. Raises Unavailable when it fails each time."""
    for pause in _PAUSES:
        try:
            return make()
        except TemporaryError as error:
            print(f"{error}\nTrying again in {pause:.0f} s …", file=sys.stderr, flush=True)
            time.sleep(pause)
    try:
        return make()
    except TemporaryError as error:
        message = f"{make.__name__} failed {len(_PAUSES) + 1} times; is the network there? {error}"
        raise Unavailable(message) from error


def main() -> None:
    """Make all that can be made, and print the variables."""
    missing = set()
    for variable, make in {"": install_programs, **ENVIRONMENTS}.items():
        began = time.monotonic()
        try:
            path = _tried(make)
        except Unavailable as error:
            missing.add(make.__name__)
            print(f"{make.__name__}: {error}", file=sys.stderr, flush=True)
            continue
        if path:
            print(f"{variable}={path}", flush=True)
        if (seconds := time.monotonic() - began) > 1:
            print(f"{make.__name__}: made in {seconds:.0f} s", file=sys.stderr, flush=True)
    if (required := missing - OPTIONAL) and os.environ.get("REQUIRE_ALL") == "1":
        sys.exit(f"error: missing: {', '.join(sorted(required))}; REQUIRE_ALL=1 allows no test to be skipped")


if __name__ == "__main__":
    main()
