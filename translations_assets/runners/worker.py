"""The worker of the local runner: runs one attempt of one step and keeps its result.

    python -m translations_assets.runners.worker

The request and the replies (lines on standard output) are those of `wire`. The request is read from standard
input, a pipe that is also the orchestrator's life line: when it closes, and no other run waits for the step,
the worker ends its script and itself.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from translations_assets.runners.control import Control
from translations_assets.runners.life_line import LifeLine
from translations_assets.runners.owner import make_attempt
from translations_assets.runners.wire import Busy, Detached, Reply, Request, pack_reply, unpack_request
from translations_assets.running.job import Outcome
from translations_assets.store.open import open_store

if TYPE_CHECKING:
    from translations_assets.running.protocols import Store

_reporting = threading.Lock()


def main() -> None:
    """Run the attempt that is asked for and say how it ended; the exit code is 0 whatever the outcome."""
    request = unpack_request(sys.stdin.buffer.readline())
    report(attempt(request, Control(), sys.stdin.fileno()))
    os._exit(0)  # nothing is left to do, and tearing an interpreter down takes time


def attempt(request: Request, control: Control, life_line: int) -> Outcome | Busy:
    """Make the attempt, tied to the orchestrator's life line."""

    def tie(store: Store, note: Callable[[str], None]) -> None:
        waiters = partial(store.waiters, request.job.key, request.job.generation)
        LifeLine(life_line, control, waiters, lambda: report(Detached()), note).start()

    return make_attempt(request, partial(open_store, request.store), control, report, owned=tie)


def report(reply: Reply) -> None:
    """Say something to the orchestrator; when it has died, the line is lost."""
    rest = pack_reply(reply)
    with _reporting, contextlib.suppress(OSError):
        while rest:
            rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    main()
