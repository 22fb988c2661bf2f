"""The pages of steps' logs, as the store has them: `/step-logs/<key>/<generation>`; Dagster's link them.

They read logs and nothing else: a log is found by the digits of a key and two numbers, never by a path. A
page has the end of a log, some hundred kilobytes; `?whole` streams all of it, part by part. What scripts
print is stored without secrets (`runners.publisher`), and shown as text.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from translations_assets.common.background import CLOCK, Clock, Repeating
from translations_assets.instance.server import LOGS, log_path, run_path
from translations_assets.records.run import RunRecord
from translations_assets.running.protocols import Store
from translations_assets.running.reading import reading
from translations_assets.running.resolve import RUNS
from translations_assets.ui.pages import HEADERS, HOME, NUMBER, complain, nothing_here, page, routes

PARTS = 200  # that a page reads: each has at most 1 MB of a log
SHOWN = 256 << 10  # bytes of a log on a page
RENEW_SECONDS = 5  # the page of a step that runs
log = logging.getLogger(__name__)


class OpenPages:
    """The steps whose pages are open count as read: each page asks again every few seconds."""

    def __init__(self, clock: Clock = CLOCK) -> None:
        self._clock, self._guard = clock, threading.Lock()
        self._open: dict[tuple[str, int], ExitStack] = {}
        self._asked: dict[tuple[str, int], float] = {}
        needed = partial(bool, self._open)
        self._closing = Repeating(
            "open pages", self._close, RENEW_SECONDS, log.warning, needed=needed, clock=clock
        )

    def note(self, store: Store, key: str, generation: int) -> None:
        """Note that a page of a step that runs was asked for."""
        step = key, generation
        with self._guard:
            self._asked[step] = self._clock.monotonic()
            if step in self._open:
                return
            self._open[step] = reader = ExitStack()
        reader.enter_context(reading(store, key, generation))
        self._closing.start()

    def _close(self) -> None:
        oldest = self._clock.monotonic() - 3 * RENEW_SECONDS
        with self._guard:
            closed = [self._open.pop(step) for step, asked in list(self._asked.items()) if asked < oldest]
            self._asked = {step: self._asked[step] for step in self._open}
        for reader in closed:
            reader.close()


_open_pages = OpenPages()


def step_log(request: Request, store: Store, key: str, generation: int) -> Response:
    """The log of an attempt, the newest one if none is named."""
    attempt = request.query_params.get("attempt")
    if attempt is not None and not NUMBER.fullmatch(attempt):
        return nothing_here(request)
    attempts = store.attempts(key, generation)
    number = max(attempts, default=0) if attempt is None else int(attempt)
    if number not in attempts:
        return complain(
            404,
            "The store has no such log.",
            "It was collected as garbage, or is not written yet. The step's run says what became of it.",
        )
    if "whole" in request.query_params:
        return _whole(store, key, generation, number)
    return HTMLResponse(_page(store, key, generation, number, attempts), headers=HEADERS)


ROUTES = routes(LOGS, step_log)


def _whole(store: Store, key: str, generation: int, attempt: int) -> Response:
    parts = store.read_log(key, generation, attempt)
    first = next(parts, b"")  # what is wrong with the store is told in place of the log
    return StreamingResponse(chain([first], parts), media_type="text/plain; charset=utf-8", headers=HEADERS)


def _page(store: Store, key: str, generation: int, attempt: int, attempts: list[int]) -> str:
    made = store.generation(key, generation)
    label, record = (made.label, None) if made else _known(store, key, generation)
    is_running = made is None and attempt == attempts[-1] and store.owners.is_owned(key, generation)
    if is_running:
        _open_pages.note(store, key, generation)
    text = b"".join(store.read_log(key, generation, attempt, -PARTS))[-SHOWN:].decode(errors="replace")
    is_last = attempt == attempts[-1] and not is_running
    why = record.failed.get(label, "") if record and is_last else ""
    if is_running:
        state = "running"
    elif made and made.attempt == attempt:
        state = f"done after {made.usage.seconds:.0f} s"
    elif why or made or not is_last:
        state = "failed"
    else:
        state = "ended without a result"
    run = made.provenance.run if made else record.run if record else ""
    return page(
        f"{label or f'step {key[:12]}, which no recent run has begun'}, attempt {attempt}: {state}",
        dict(_links(key, generation, attempt, attempts, run)),
        told=why,
        text=text,
        renewed=RENEW_SECONDS if is_running else 0,
    )


def _known(store: Store, key: str, generation: int) -> tuple[str, RunRecord | None]:
    """The label of a step, and the newest run that has begun or used it; of the newest runs alone."""
    for run in store.runs()[:RUNS]:
        if record := store.read_run(run):
            for label, step in {**record.uses, **record.begun}.items():
                if step == (key, generation):
                    return label, record
    return "", None


def _links(
    key: str, generation: int, attempt: int, attempts: list[int], run: str
) -> Iterator[tuple[str, str]]:
    """Back to the run, to the whole log, and to the other attempts."""
    if run:
        yield f"run {run[:8]}", run_path(run)
    yield from HOME.items()
    yield "the whole log", f"{log_path(key, generation, attempt)}&whole"
    for other in attempts:
        if other != attempt:
            yield f"attempt {other}", log_path(key, generation, other)
