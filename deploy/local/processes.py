"""Servers as children, which end with us."""

from __future__ import annotations

import signal as signals
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pipeline.common.processes import dying_with_parent

_END_SECONDS = 30.0
_LOOK_SECONDS = 0.1
_LINES = 20


class LocalError(Exception):
    """What a person has to see to before this works."""


@contextmanager
def ending(
    command: list[str], *, log: Path, signal: str = "SIGTERM", **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """A server, its output in a file, until the end of the block: then it gets the signal, and 30 seconds.

    A Ctrl-C in the terminal does not reach it, so that servers end in order, and in no other way than by us;
    when we are killed, so is it.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=dying_with_parent(),
            **{"stdin": subprocess.DEVNULL, **options},
        )
    try:
        yield process
    finally:
        process.send_signal(signals.Signals[signal])
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(ready: Callable[[], bool], server: subprocess.Popen[bytes], name: str, seconds: float) -> None:
    """Wait until a server is ready. Raises LocalError when it ends, or takes longer than that."""
    end = time.monotonic() + seconds
    while not ready():
        if server.poll() is not None:
            raise LocalError(f"{name} ended with exit code {server.returncode}.")
        if time.monotonic() > end:
            raise LocalError(f"{name} was not ready within {seconds:.0f} seconds.")
        time.sleep(_LOOK_SECONDS)


def tail(log: Path) -> str:
    """The end of a log, for an error."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    return "\n".join(lines[-_LINES:])
