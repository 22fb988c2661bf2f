"""The pages of steps' logs, as the store has them: `/step-logs/<key>/<generation>`; Dagster's link them.

They read logs and nothing else: a log is found by the digits of a key and two numbers, never by a path. A
page has the end of a log, some hundred kilobytes; `?whole` streams all of it, part by part. What scripts
print is stored without secrets (`runners.publisher`), and shown as text.
"""

from __future__ import annotations

import html
import logging
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from translations_assets.background import CLOCK, Clock, Repeating
from translations_assets.errors import TranslationsError
from translations_assets.project import this_project
from translations_assets.running.protocols import Store
from translations_assets.running.reading import reading
from translations_assets.server import LOGS, log_path

PARTS = 200  # that a page reads: each has at most 1 MB of a log
SHOWN = 256 << 10  # bytes of a log on a page
RENEW_SECONDS = 5  # the page of a step that runs
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}

log = logging.getLogger(__name__)

_KEY = re.compile(r"[0-9a-f]{64}")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
{renew}<title>{title}</title>
<style>
body {{ font-family: sans-serif; margin: 0; height: 100vh; display: flex; flex-direction: column }}
header {{ padding: .6em 1em; border-bottom: 1px solid #ccc }}
h1 {{ font-size: 1.1em; margin: 0 0 .3em }}
div {{ flex: 1; overflow: auto; display: flex; flex-direction: column-reverse }} /* opens at its end */
pre {{ margin: 0 0 auto; padding: 1em; white-space: pre-wrap; overflow-wrap: anywhere }}
</style>
</head>
<body>
<header><h1>{title}</h1>{links}</header>
<div><pre>{text}</pre></div>
</body>
</html>
"""


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


def step_log(request: Request) -> Response:
    """The log of an attempt, the newest one if none is named."""
    key, generation = request.path_params["key"], request.path_params["generation"]
    attempt = request.query_params.get("attempt", "1")
    if not is_named(key, generation, attempt):
        return complain(404, "There is no such log.")
    try:
        store = this_project().store
        attempts = store.attempts(key, int(generation))
        number = int(attempt) if "attempt" in request.query_params else max(attempts, default=0)
        if number not in attempts:
            return complain(
                404, "The store has no such log: it was collected as garbage, or is not written yet."
            )
        if "whole" in request.query_params:
            return _whole(store, key, int(generation), number)
        return HTMLResponse(_page(store, key, int(generation), number, attempts), headers=HEADERS)
    except TranslationsError as error:
        return complain(503, str(error))


ROUTES = [Route(f"{LOGS}/{{key}}/{{generation}}", step_log)]


def is_named(key: str, *numbers: str) -> bool:
    """Whether these can be a step's key and numbers that count from 1: what is looked up in the store."""
    return bool(_KEY.fullmatch(key)) and all(map(_NUMBER.fullmatch, numbers))


def complain(status: int, text: str) -> Response:
    """An answer that says what is wrong."""
    return PlainTextResponse(f"{text}\n", status, HEADERS)


def _whole(store: Store, key: str, generation: int, attempt: int) -> Response:
    parts = store.read_log(key, generation, attempt)
    first = next(parts, b"")  # what is wrong with the store is told in place of the log
    return StreamingResponse(chain([first], parts), media_type="text/plain; charset=utf-8", headers=HEADERS)


def _page(store: Store, key: str, generation: int, attempt: int, attempts: list[int]) -> str:
    made = store.generation(key, generation)
    is_running = made is None and attempt == attempts[-1] and store.owners.is_owned(key, generation)
    if is_running:
        _open_pages.note(store, key, generation)
    text = b"".join(store.read_log(key, generation, attempt, -PARTS))[-SHOWN:].decode(errors="replace")
    name = made.label if made else f"step {key[:12]}"
    state = "running" if is_running else "ended"
    if made and made.attempt == attempt:
        state = f"done after {made.usage.seconds:.0f} s"
    return _PAGE.format(
        renew=f'<meta http-equiv="refresh" content="{RENEW_SECONDS}">\n' if is_running else "",
        title=html.escape(f"{name}, attempt {attempt}: {state}"),
        links=" · ".join(_links(key, generation, attempt, attempts)),
        text=html.escape(text),
    )


def _links(key: str, generation: int, attempt: int, attempts: list[int]) -> Iterator[str]:
    """To the whole log, and to the other attempts."""
    yield f'<a href="{log_path(key, generation, attempt)}&amp;whole">the whole log</a>'
    for other in attempts:
        if other != attempt:
            yield f'<a href="{log_path(key, generation, other)}">attempt {other}</a>'
