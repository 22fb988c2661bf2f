"""A command on a pseudo-terminal of its own, as a person sees it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
ROWS, COLUMNS = 40, 120


class Terminal:
    """Starts a command; ends it when the context is left.

    said  what it has printed so far, without colours and movements of the cursor
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self.said = ""
        self._process, self._terminal = pty.fork()
        if self._process == 0:  # the command, whose controlling terminal it is
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", ROWS, COLUMNS, 0, 0))
            os.chdir(folder)
            os.execve(command[0], list(command), {**environment, "TERM": "xterm"})

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process:
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        os.close(self._terminal)

    def type(self, keys: str) -> None:
        """Type some keys."""
        os.write(self._terminal, keys.encode())

    def read_until(self, pattern: str, seconds: float) -> list[str]:
        """Wait until a pattern is found; what it finds in all that was said, in its order."""
        deadline = time.monotonic() + seconds
        while not (found := re.findall(pattern, self.said)):
            if time.monotonic() > deadline or not self._read(deadline):
                raise AssertionError(f"{pattern} was not said:\n{self.said}")
        return found

    def interrupt(self, seconds: float) -> int:
        """Type Ctrl-C until the command ends; how it ended.

        Once may be too few where it begins to read: Python notices an interrupt of that moment after the
        line that is then waited for.
        """
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.type("\x03")
            if self._has_ended(min(deadline, time.monotonic() + 30)):
                return self.exit_code(seconds)
        raise AssertionError(f"it does not end:\n{self.said}")

    def exit_code(self, seconds: float) -> int:
        """Read to the end of the command; how it ended."""
        if not self._has_ended(time.monotonic() + seconds):
            raise AssertionError(f"it does not end:\n{self.said}")
        process, self._process = self._process, 0
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def _has_ended(self, deadline: float) -> bool:
        """Read until the command's end, or until a time."""
        while self._read(deadline):
            if time.monotonic() > deadline:
                return False
        return time.monotonic() < deadline

    def _read(self, deadline: float) -> bool:
        """Read what comes next; False at the command's end, or when nothing comes in time."""
        if not select.select([self._terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self._terminal, 1 << 16)
        except OSError:  # nobody has it open any more
            return False
        self.said += _CONTROL.sub("", data.decode(errors="replace"))
        return bool(data)
