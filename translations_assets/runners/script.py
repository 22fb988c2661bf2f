"""A running script: its process group, and the end of all its children with it."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from translations_assets.runners import launcher

if TYPE_CHECKING:
    import psutil

_LAUNCHER = launcher.__file__  # imported, so that what looks for a worker's modules finds it
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_GONE_SECONDS = 5.0


class ScriptProcess:
    """A script and its descendants; this process has no other children, but for those that `kill` is told of.

    However this process ends, the kernel ends the script's group (see `launcher`).

    cpu_seconds     CPU time of the script and all its descendants, once they have ended
    largest_memory  peak resident memory in bytes of the largest single one of them
    """

    def __init__(
        self, script: str, command: Sequence[str], *, cwd: Path, environment: Mapping[str, str], log: Path
    ) -> None:
        adopt_orphans()
        life_line, self._life = os.pipe()
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, _LAUNCHER, str(life_line), script, *command],
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(life_line,),
                start_new_session=True,
            )
        os.close(life_line)
        self.pid = self._process.pid
        self.started = time.monotonic()
        self.cpu_seconds = 0.0
        self.largest_memory = 0

    def exited(self) -> bool:
        """True if the script itself has ended. It is left a zombie: no other process gets its number."""
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def terminate(self) -> None:
        """Ask the script to end."""
        os.kill(self.pid, signal.SIGTERM)

    def kill(self, beside: int = 0) -> int:
        """Kill what is left of the group and of the script's children; the script's exit code, as of Popen.

        Raises TimeoutError when a process does not even go when killed (stuck in the kernel), unless it is of
        the group `beside`, which is no script's.
        """
        os.killpg(self.pid, signal.SIGKILL)
        deadline = time.monotonic() + _GONE_SECONDS
        while not self.exited():
            _pause(deadline)
        code = self._process.returncode = self._reap(self.pid)
        while not self._reap_orphans(beside):
            _kill_children(beside)
            _pause(deadline)
        os.close(self._life)
        return code

    def _reap_orphans(self, beside: int) -> bool:
        """Reap the children that have ended; whether none is left but those of a group."""
        try:
            while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                self._reap(-1)
            return beside != 0 and not _children(beside)
        except ChildProcessError:
            return True

    def _reap(self, pid: int) -> int:
        """Reap a child that has ended, and count what it and its own children used; its exit code."""
        _, status, usage = os.wait4(pid, 0)
        self.cpu_seconds += usage.ru_utime + usage.ru_stime
        self.largest_memory = max(self.largest_memory, usage.ru_maxrss * 1024)
        return os.waitstatus_to_exitcode(status)


def adopt_orphans() -> None:
    """Become the parent of orphaned descendants, also of those that left the script's process group."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _pause(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TimeoutError("a process of the script does not end although it was killed")
    time.sleep(0.01)


def _kill_children(beside: int) -> None:
    for child in _children(beside):
        child.kill()


def _children(beside: int) -> list[psutil.Process]:
    """This process's children, but for those of a group."""
    import psutil  # takes long to import and is rarely needed here

    return [child for child in psutil.Process().children() if os.getpgid(child.pid) != beside]
