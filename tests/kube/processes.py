"""Processes that end with whoever started them, and with them all that they started."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import IO

_SHIM = Path(__file__).with_name("shim.py")


class Contained:
    """A command under `shim.py`.

    output  file to write to; without it `stream` gives standard output and error together
    """

    def __init__(
        self, command: Sequence[str], folder: Path, environment: Mapping[str, str], output: Path | None = None
    ) -> None:
        arguments = [sys.executable, "-I", "-S", str(_SHIM), *command]
        with output.open("ab") if output else nullcontext(subprocess.PIPE) as target:
            self._process = subprocess.Popen(
                arguments,
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=target,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def stream(self) -> IO[bytes]:
        """Output of the command."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def pid(self) -> int:
        """The shim's process id; the command is its child."""
        return self._process.pid

    def terminate(self) -> None:
        """Send SIGTERM to the command."""
        self._process.terminate()

    def kill(self) -> None:
        """Kill the command and all that it started."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()

    def wait(self, seconds: float | None = None) -> int:
        """The exit code. Raises subprocess.TimeoutExpired."""
        return self._process.wait(seconds)

    def close(self) -> None:
        """Kill, wait, and free the pipes."""
        self.kill()
        self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()
