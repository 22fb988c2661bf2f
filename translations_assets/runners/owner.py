"""What every worker does, on this machine or in a pod: become a step's owner, run it, keep its result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from translations_assets.errors import DamagedError, StoreError, StoreUnreachable, TranslationsError
from translations_assets.runners.attempt import Attempt
from translations_assets.runners.control import Control
from translations_assets.runners.wire import Busy, Request
from translations_assets.runners.work_folder import sweep, work_folder
from translations_assets.running.job import JobEvent, Outcome

if TYPE_CHECKING:
    from translations_assets.running.protocols import Store


def make_attempt(
    request: Request,
    open_store: Callable[[], Store],
    control: Control,
    report: Callable[[JobEvent], None],
    *,
    owned: Callable[[Store, Callable[[str], None]], None] | None = None,
    echo: Callable[[bytes], None] | None = None,
) -> Outcome | Busy:
    """Make the attempt that is asked for; every failure comes back as an outcome.

    owned  called once the step is ours, with the store and what adds a line to the step's log
    echo   gets the log, too, while it is written: whole lines
    """
    try:
        store, job = open_store(), request.job
        with store.lock(job.key, job.generation, control.lose) as owner:
            if not owner:
                return Busy()
            return _as_owner(request, store, control, report, owned, echo)
    except DamagedError as error:
        return Outcome("failed", message=str(error))
    except StoreUnreachable as error:
        return Outcome("temporary", message=str(error), unreachable=True)
    except (StoreError, OSError) as error:
        return Outcome("temporary", message=_explain(error, request))
    except Exception:
        import traceback  # only now: a worker's start is part of every step

        return Outcome("failed", message="the worker has a bug", log_tail=traceback.format_exc())


def _as_owner(
    request: Request,
    store: Store,
    control: Control,
    report: Callable[[JobEvent], None],
    owned: Callable[[Store, Callable[[str], None]], None] | None,
    echo: Callable[[bytes], None] | None,
) -> Outcome:
    work = Path(request.work)
    sweep(work)
    if manifest := store.generation(request.job.key, request.job.generation):
        return Outcome("done", manifest)
    with work_folder(work) as folder:
        attempt = Attempt(request, store, folder, control, report, echo)
        if owned:
            owned(store, attempt.note)
        return attempt.run()


def _explain(error: Exception, request: Request) -> str:
    if isinstance(error, TranslationsError):
        return str(error)
    return f"The worker failed in {request.work}: {error}. Check space and permissions there."
