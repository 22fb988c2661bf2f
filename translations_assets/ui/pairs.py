"""The page of all pairs, `/pairs`, made anew from the store whenever somebody asks for it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from translations_assets.common.errors import TranslationsError
from translations_assets.instance.server import PAIRS
from translations_assets.pairs.facts import currency_of, gather
from translations_assets.pairs.page import as_html
from translations_assets.project import Project
from translations_assets.ui.pages import HEADERS, complain


def pairs(_request: Request) -> Response:
    """The page; what scripts and configs are now counts, so nothing of an earlier one is used."""
    project = Project()
    try:
        return HTMLResponse(as_html(gather(project), currency_of(project)), headers=HEADERS)
    except TranslationsError as error:
        return complain(503, "The pairs cannot be read.", str(error))


ROUTES = [Route(PAIRS, pairs)]
