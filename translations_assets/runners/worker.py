"""The worker: runs one attempt of one step and keeps its result, on a laptop as in a pod.

    python -m translations_assets.runners.worker [REQUEST_FILE]

The request and the replies (lines on standard output) are those of `wire`. Without a file the request is read
from standard input, a pipe that is also the orchestrator's life line: when it closes, and no other run waits
for the step, the worker ends its script and itself.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from functools import partial
from pathlib import Path

from translations_assets.runners.attempt import Attempt
from translations_assets.runners.control import Control
from translations_assets.runners.life_line import LifeLine
from translations_assets.runners.wire import Busy, Detached, Reply, Request, pack_reply, unpack_request
from translations_assets.runners.work_folder import sweep, work_folder
from translations_assets.steps.errors import DamagedError, StoreError, StoreUnreachable, TranslationsError
from translations_assets.steps.job import Outcome
from translations_assets.store.open import open_store

_reporting = threading.Lock()


def main() -> None:
    """Run the attempt that is asked for and say how it ended; the exit code is 0 whatever the outcome."""
    if len(sys.argv) > 1:
        request, life_line = unpack_request(Path(sys.argv[1]).read_bytes()), None
    else:
        request, life_line = unpack_request(sys.stdin.buffer.readline()), sys.stdin.fileno()
    report(attempt(request, Control(), life_line))
    os._exit(0)  # nothing is left to do, and tearing an interpreter down takes time


def attempt(request: Request, control: Control, life_line: int | None) -> Outcome | Busy:
    """Become the step's owner, run it, keep the result; every failure comes back as an outcome."""
    try:
        return _as_owner(request, control, life_line)
    except DamagedError as error:
        return Outcome("failed", message=str(error))
    except StoreUnreachable as error:
        return Outcome("temporary", message=str(error), unreachable=True)
    except (StoreError, OSError) as error:
        return Outcome("temporary", message=_explain(error, request))
    except Exception:
        import traceback  # only now: a worker's start is part of every step

        return Outcome("failed", message="the worker has a bug", log_tail=traceback.format_exc())


def _as_owner(request: Request, control: Control, life_line: int | None) -> Outcome | Busy:
    job, work = request.job, Path(request.work)
    store = open_store(request.store)
    with store.lock(job.key, job.generation, control.end) as owner:
        if not owner:
            return Busy()
        if life_line is not None:
            waiters = partial(store.waiters, job.key, job.generation)
            LifeLine(life_line, control, waiters, lambda: report(Detached())).start()
        sweep(work)
        if manifest := store.generation(job.key, job.generation):
            return Outcome("done", manifest)
        with work_folder(work) as folder:
            return Attempt(request, store, folder, control, report).run()


def _explain(error: Exception, request: Request) -> str:
    if isinstance(error, TranslationsError):
        return str(error)
    return f"The worker failed in {request.work}: {error}. Check space and permissions there."


def report(reply: Reply) -> None:
    """Say something to the orchestrator; when it is gone, nobody listens."""
    rest = pack_reply(reply)
    with _reporting, contextlib.suppress(OSError):
        while rest:
            rest = rest[os.write(1, rest) :]


if __name__ == "__main__":
    main()
