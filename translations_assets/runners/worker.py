"""The worker: own a step, make one attempt, keep its result; and the local runner's worker.

    python -m translations_assets.runners.worker

Requests and replies are those of `wire`. A local worker reads its request from standard input, a pipe that is
also the orchestrator's life line: when it closes, and no other run waits for the step, the worker ends its
script and itself.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from translations_assets.common.errors import DamagedError, StoreError, StoreUnreachable
from translations_assets.runners.attempt import Attempt
from translations_assets.runners.control import Control, LifeLine
from translations_assets.runners.wire import Busy, Detached, Ending, Reply, Request, pack_reply, write
from translations_assets.runners.work_folder import sweep, work_folder
from translations_assets.running.events import JobEvent
from translations_assets.running.job import Outcome
from translations_assets.store.open import open_store

if TYPE_CHECKING:
    from translations_assets.running.protocols import Store


def main() -> None:
    """Run the attempt that is asked for and report how it ended; the exit code is 0 whatever the outcome."""
    request, control = Request.from_bytes(sys.stdin.buffer.readline()), Control()

    def report(reply: Reply) -> None:
        write(pack_reply(reply))

    def watch_orchestrator(store: Store, note: Callable[[str], None]) -> None:
        waiters = partial(store.owners.waiters, request.job.key, request.job.generation)
        LifeLine(sys.stdin.fileno(), control, waiters, lambda: report(Detached()), note).start()

    store = partial(open_store, request.store)
    report(make_attempt(request, store, control, report, owned=watch_orchestrator))
    os._exit(0)  # nothing is left to do, and tearing an interpreter down takes time


def make_attempt(
    request: Request,
    open_store: Callable[[], Store],
    control: Control,
    report: Callable[[JobEvent], None] | None,
    *,
    owned: Callable[[Store, Callable[[str], None]], None] = lambda store, note: None,
) -> Ending:
    """Make the attempt that is asked for; every failure comes back as an outcome.

    report  gets the events of the attempt; None in a pod, see `Attempt`
    owned  called once the worker owns the step, with the store and what adds a line to the step's log

    >>> with store.owners.lock(request.job.key, request.job.generation):  # another worker owns the step
    ...     make_attempt(request, lambda: store, control, print)
    Busy()
    >>> make_attempt(replace(request, job=finished), lambda: store, control, print).kind
    'done'
    """
    job, work = request.job, Path(request.work)
    try:
        store = open_store()
        with store.owners.lock(job.key, job.generation, control.lose_lease) as owner:
            if not owner:
                return Busy()
            sweep(work)
            if manifest := store.generation(job.key, job.generation):
                return Outcome("done", manifest)
            with work_folder(work) as folder:
                attempt = Attempt(request, store, folder, control, report)
                owned(store, attempt.log.note)
                return attempt.run()
    except DamagedError as error:
        return Outcome("failed", message=str(error))
    except StoreError as error:
        return Outcome("temporary", message=str(error), unreachable=isinstance(error, StoreUnreachable))
    except OSError as error:
        message = f"The worker failed in {work}: {error}. Check space and permissions there."
        return Outcome("temporary", message=message)
    except Exception:
        return Outcome("failed", message="the worker has a bug", log_tail=traceback.format_exc())


if __name__ == "__main__":
    main()
