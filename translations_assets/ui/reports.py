"""The pages of reports, as the store keeps them: `/reports/<key>/<generation>`; `?card` is the model card.

Like the pages of logs they are found by the digits of a key and a number, and nothing else can be read.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from translations_assets.common.errors import TranslationsError
from translations_assets.instance.server import REPORTS
from translations_assets.project import this_project
from translations_assets.report.kept import CARD, PAGE, STAGE
from translations_assets.ui.pages import HEADERS, complain, is_named, nothing_here


def report(request: Request) -> Response:
    """A report that was kept."""
    key, generation = request.path_params["key"], request.path_params["generation"]
    if not is_named(key, generation):
        return nothing_here(request)
    try:
        store = this_project().store
        made = store.generation(key, int(generation))
        if made is None or made.stage != STAGE:
            return complain(
                404,
                "The store has no such report.",
                "It may have been collected as garbage. Materialize the asset report to make a new one.",
            )
        if "card" in request.query_params:
            return PlainTextResponse(store.read_blob(made.outputs[CARD]), headers=HEADERS)
        return HTMLResponse(store.read_blob(made.outputs[PAGE]), headers=HEADERS)
    except TranslationsError as error:
        return complain(503, "The store cannot be read.", f"{error} Load the page again later.")


ROUTES = [
    Route(f"{REPORTS}/{{key}}/{{generation}}", report),
    *(Route(f"{REPORTS}{rest}", nothing_here) for rest in ("", "/{rest:path}")),
]
