"""Files that the scripts of a run open, with all processes that they start, as the kernel saw it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from translations_assets.common.settings import repository_root
from translations_assets.runners import launcher

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")

_CALLS = "trace=open,openat,openat2,execve,clone,clone3,fork,vfork"
_OPENED = re.compile(r"open(?:at|at2)?\((?:AT_FDCWD<(?P<folder>[^>]*)>)?.* = \d+<(?P<path>.*)>$")
_STARTED = re.compile(r"(?:clone3?|v?fork)\(.* = (\d+)$")
_SCRIPT = re.compile(r'execve\(.*"[^"]*launcher\.py", "\d+", "(pipeline[\w.]+)"')
_URL = re.compile(r"file://([^\"\[]*)/")
# The environment's own: programs and libraries, Python with what is installed for it, devices.
_SYSTEM = ("/proc", "/sys", "/dev", "/etc", "/usr", "/lib", "/lib64", "/bin", "/sbin", "/var/cache")
_PYTHON = (sys.prefix, sys.base_prefix, str(Path(sys.executable).resolve().parents[1]), launcher.__file__)
# An editable install puts the checkout on the import path: each Python that starts lists it once, to look for
# `sitecustomize`, before any script can prevent it.
_LISTED = {str(repository_root())}


@dataclass(frozen=True)
class Script:
    """A script that ran, and the files that it and its children opened, as absolute paths.

    folder   its work folder
    sources  folders that its command line names by URL
    """

    name: str
    folder: str
    sources: tuple[str, ...]
    files: frozenset[str]

    @property
    def strays(self) -> set[str]:
        """Files that are neither the step's own nor the environment's."""
        known = (*_SYSTEM, *_PYTHON, self.folder, *self.sources)
        files = self.files - _LISTED
        return {file for file in files if not any(_is_below(file, folder) for folder in known)}


def traced(
    command: Sequence[str], traces: Path, environment: Mapping[str, str], cwd: Path, seconds: float
) -> list[Script]:
    """Run a command that runs scripts, at most so many seconds; every script that ran."""
    traces.mkdir()
    # seccomp: other system calls are not slowed down. timeout: what strace leaves behind when killed goes on.
    strace = ["strace", "-ff", "--seccomp-bpf", "-y", "-s", "4096", "-qq", "-e", _CALLS, "-e", "signal=none"]
    done = subprocess.run(
        [*strace, "-o", str(traces / "trace"), "timeout", str(seconds), *command],
        env=dict(environment),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return list(_Traces(traces).scripts())


class _Traces:
    """One file for each process and thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {
            path.suffix[1:]: path.read_text(errors="surrogateescape").splitlines()
            for path in self._folder.iterdir()
        }

    def scripts(self) -> Iterator[Script]:
        """Every process that became a script."""
        for lines in self._lines.values():
            for number, line in enumerate(lines):
                script = _SCRIPT.match(line)
                if script:
                    yield self._script(script[1], line, lines[number:])

    def _script(self, name: str, command: str, lines: list[str]) -> Script:
        found = [match for one in self._all(lines) if (match := _OPENED.match(one))]
        folder = next(match["folder"] for line in lines if (match := _OPENED.match(line)) and match["folder"])
        paths = (match["path"].removesuffix(" (deleted)") for match in found)
        files = frozenset(path for path in paths if path.startswith("/"))  # not `pipe:[3]`
        return Script(name, folder, tuple(_URL.findall(command)), files)

    def _all(self, lines: list[str]) -> Iterator[str]:
        """The lines of a process and of all that it started."""
        yield from lines
        for line in lines:
            started = _STARTED.match(line)
            if started:
                yield from self._all(self._lines.get(started[1], []))


def _is_below(file: str, folder: str) -> bool:
    return file == folder or file.startswith(folder.rstrip("/") + "/")
