"""Names the process of a run so that another one can find out, later, whether it still runs.

Stands outside of the layers: the executor marks runs with it, and the command line looks at them.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

PROCESS_TAG = ".dagster/translations-process"
"""Tag of a run in Dagster: the process that runs it. Its pages show no tag that begins so."""


def this_process(run: str) -> str:
    """`host:number`, for people; then when the process began, in the kernel's clock ticks, and the run.

    The run, as short as Dagster shows it, belongs to it because Dagster copies a run's tags when it is
    executed again.
    """
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid} {_began(pid)} {_short(run)}"


def has_ended(name: str, run: str) -> bool | None:
    """True if a run's process has ended; None for one on another machine, and before it has a process."""
    host, _, rest = name.partition(":")
    words = rest.split()
    if len(words) != 3 or (host, words[2]) != (socket.gethostname(), _short(run)) or not words[0].isdecimal():
        return None
    return _began(int(words[0])) != words[1]


def _short(run: str) -> str:
    return run[:8]


def _began(pid: int) -> str:
    """Return the time a process began; empty when it is gone, or dead and not yet waited for."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()  # the name in parentheses may hold anything
    state, began = fields[0], fields[19]
    return "" if state in "ZX" else began
