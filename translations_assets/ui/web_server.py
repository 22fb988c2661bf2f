"""Dagster's web server behind a guard: `python -m translations_assets.ui.web_server`, with its options.

Any page that a browser shows can send requests to 127.0.0.1, and Dagster's server asks for no name:
without the guard, a page could launch runs. No page can change what a browser says of a request's origin:
`Host`, `Origin` (RFC 6454) and `Sec-Fetch-*` (Fetch Metadata). Programs such as curl send `Host` alone.
"""

from __future__ import annotations

from typing import Any

import dagster_webserver.app
import dagster_webserver.cli
from dagster_webserver.webserver import DagsterWebserver
from graphene import Schema
from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse
from starlette.datastructures import Headers, QueryParams
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from translations_assets.ui import HOSTS, step_logs
from translations_assets.ui.stale import name_changes

_POLICY_VIOLATION = 1008  # of a web socket: RFC 6455, 7.4.1


class Guard:
    """ASGI middleware: answers 403 to what comes from other pages, 405 to mutations by GET."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
        elif _is_foreign(scope):
            await _refuse(scope, receive, send, 403, "This request comes from another page, and is refused.")
        elif _mutates_by_get(scope):
            await _refuse(scope, receive, send, 405, "A mutation is sent by POST.")
        else:
            await self.app(scope, receive, send)


def _is_foreign(scope: Scope) -> bool:
    """Whether a page that is not the server's own sent this. Links from other pages may be followed."""
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host"):
        return True
    # Another port of this machine is the same site, but not the same origin
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return not (is_link and scope.get("method") == "GET")


def _mutates_by_get(scope: Scope) -> bool:
    """Whether this is a GraphQL mutation in a link, which a page needs no permission to follow."""
    if scope.get("method") not in ("GET", "HEAD") or not scope["path"].endswith("/graphql"):
        return False
    try:
        document = parse(QueryParams(scope["query_string"]).get("query", "{ version }"))
    except GraphQLError:  # Dagster says what is wrong with it, and does nothing
        return False
    operations = [part for part in document.definitions if isinstance(part, OperationDefinitionNode)]
    return any(part.operation is OperationType.MUTATION for part in operations)


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, text: str) -> None:
    if scope["type"] == "websocket":  # before it is accepted, this becomes an answer 403
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION, "reason": text})
        return
    await PlainTextResponse(text, status)(scope, receive, send)


class Webserver(DagsterWebserver[Any, Any]):
    """Dagster's, with the pages of steps' logs, and reasons in the marks of what is stale."""

    def build_routes(self) -> list[Any]:
        """Those of logs, then Dagster's own, the last of which take every path."""
        return [*step_logs.ROUTES, *super().build_routes()]  # type: ignore[no-untyped-call]

    def build_graphql_schema(self) -> Schema:
        """Dagster's, with our reasons."""
        return name_changes(super().build_graphql_schema())


class GuardedWebserver(Webserver):
    """One that answers no other page."""

    def build_middleware(self) -> list[Middleware]:
        """The guard, then Dagster's own."""
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS))
        return [hosts, Middleware(Guard), *super().build_middleware()]


def serve(server: type[Webserver]) -> None:
    """Serve until a signal, with the options of `dagster-webserver`."""
    dagster_webserver.app.DagsterWebserver = server  # type: ignore[attr-defined]  # no setting for it
    dagster_webserver.cli.cli(auto_envvar_prefix="DAGSTER_WEBSERVER")


if __name__ == "__main__":
    serve(GuardedWebserver)
