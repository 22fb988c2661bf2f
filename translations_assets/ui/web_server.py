"""Dagster's web server behind a guard: `python -m translations_assets.ui.web_server`, with its options.

Without the guard, a page that a browser shows could launch runs.
"""

from __future__ import annotations

from typing import Any

import dagster_webserver.app
import dagster_webserver.cli
from dagster_webserver.webserver import DagsterWebserver
from graphene import Schema
from graphql import GraphQLError, OperationDefinitionNode, OperationType, parse
from starlette.datastructures import QueryParams
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from translations_assets.ui import pairs, reports, step_logs
from translations_assets.ui.guard import GUARDS, refuse
from translations_assets.ui.schema import with_recipes_as_reasons


class NoMutationByGet:
    """ASGI middleware: answers 405 to mutations by GET."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _mutates_by_get(scope):
            await refuse(scope, receive, send, 405, "A mutation is sent by POST.")
        else:
            await self.app(scope, receive, send)


def _mutates_by_get(scope: Scope) -> bool:
    """True if this is a GraphQL mutation in a link, which a page needs no permission to follow."""
    if scope.get("method") not in ("GET", "HEAD") or not scope["path"].endswith("/graphql"):
        return False
    try:
        document = parse(QueryParams(scope["query_string"]).get("query", "{ version }"))
    except GraphQLError:  # Dagster says what is wrong with it, and does nothing
        return False
    operations = [part for part in document.definitions if isinstance(part, OperationDefinitionNode)]
    return any(part.operation is OperationType.MUTATION for part in operations)


class Webserver(DagsterWebserver[Any, Any]):
    """Dagster's, with pages of steps' logs and reports, reasons in marks of what is stale, and no recipes."""

    def build_routes(self) -> list[Any]:
        """Those of pairs, logs and reports, then Dagster's own, the last of which take every path."""
        return [*pairs.ROUTES, *step_logs.ROUTES, *reports.ROUTES, *super().build_routes()]  # type: ignore[no-untyped-call]

    def build_graphql_schema(self) -> Schema:
        """Dagster's, with our reasons, without recipes."""
        return with_recipes_as_reasons(super().build_graphql_schema())


class GuardedWebserver(Webserver):
    """One that answers no other page."""

    def build_middleware(self) -> list[Middleware]:
        """The guards, then Dagster's own."""
        return [*GUARDS, Middleware(NoMutationByGet), *super().build_middleware()]


def serve(server: type[Webserver]) -> None:
    """Serve until a signal, with the options of `dagster-webserver`."""
    dagster_webserver.app.DagsterWebserver = server  # type: ignore[attr-defined]  # no setting for it
    dagster_webserver.cli.cli(auto_envvar_prefix="DAGSTER_WEBSERVER")


if __name__ == "__main__":
    serve(GuardedWebserver)
