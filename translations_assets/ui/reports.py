"""The pages of reports, as the store keeps them: `/reports/<key>/<generation>`; `?card` is the model card.

Like the pages of logs they are found by the digits of a key and a number, and nothing else can be read.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from translations_assets.instance.server import REPORTS
from translations_assets.report.kept import CARD, PAGE, STAGE
from translations_assets.running.protocols import Store
from translations_assets.ui.pages import HEADERS, complain, routes


def report(request: Request, store: Store, key: str, generation: int) -> Response:
    """A report that was kept."""
    made = store.generation(key, generation)
    if made is None or made.stage != STAGE:
        return complain(
            404,
            "The store has no such report.",
            "It may have been collected as garbage. Materialize the asset report to make a new one.",
        )
    if "card" in request.query_params:
        return PlainTextResponse(store.read_blob(made.outputs[CARD]), headers=HEADERS)
    return HTMLResponse(store.read_blob(made.outputs[PAGE]), headers=HEADERS)


ROUTES = routes(REPORTS, report)
