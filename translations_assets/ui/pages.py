"""Common parts of our pages in Dagster's web server: headers, a frame, and errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from translations_assets.common.errors import TranslationsError
from translations_assets.project import this_project
from translations_assets.report.templates import render
from translations_assets.running.protocols import Store

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
HOME = {"all runs": "/runs", "assets": "/assets"}

_KEY = re.compile(r"[0-9a-f]{64}")
NUMBER = re.compile(r"[1-9][0-9]{0,8}")  # one that counts from 1


def page(
    title: str, links: Mapping[str, str], *, told: str = "", text: str | None = None, renewed: int = 0
) -> str:
    """A page with a title, what is told below it, links by name, and a text as it is.

    `renewed` is after how many seconds the browser loads it again; 0 for never.
    """
    values = {"title": title, "links": links, "told": told, "text": text, "renewed": renewed}
    return render(Path(__file__).with_name("page.html.j2"), **values)


def routes(folder: str, answer: Callable[[Request, Store, str, int], Response]) -> list[Route]:
    """Routes of the pages below a folder, each found by the digits of a step's key and a generation.

    Nothing else can be read. What is wrong with the store is told by a page, too.
    """

    def found(request: Request) -> Response:
        key, generation = request.path_params["key"], request.path_params["generation"]
        if not _KEY.fullmatch(key) or not NUMBER.fullmatch(generation):
            return nothing_here(request)
        try:
            return answer(request, this_project().store, key, int(generation))
        except TranslationsError as error:
            return complain(503, "The store cannot be read.", f"{error} Load the page again later.")

    others = [Route(f"{folder}{rest}", nothing_here) for rest in ("", "/{rest:path}")]
    return [Route(f"{folder}/{{key}}/{{generation}}", found), *others]


def complain(status: int, title: str, what_to_do: str) -> Response:
    """A page that says what is wrong, and what to do."""
    return HTMLResponse(page(title, HOME, told=what_to_do), status, HEADERS)


def nothing_here(request: Request) -> Response:
    """Answer for a path below our pages' that is none of them; Dagster's own page would say nothing of it."""
    return complain(
        404,
        "There is no such page.",
        "The address may have been cut. Pages of logs are linked from the events of a run, those of reports "
        "from the materializations of the asset report.",
    )
