"""Dagster's web server behind the guard: `python -m translations_assets.ui.web_server`, with its options."""

from __future__ import annotations

from typing import Any

import dagster_webserver.app
import dagster_webserver.cli
from dagster_webserver.webserver import DagsterWebserver
from starlette.middleware import Middleware

from translations_assets.ui.guard import middleware


class GuardedWebserver(DagsterWebserver[Any, Any]):
    """Dagster's, which answers no other page."""

    def build_middleware(self) -> list[Middleware]:
        """The guard first."""
        return [*middleware(), *super().build_middleware()]


def main() -> None:
    """Serve until a signal."""
    dagster_webserver.app.DagsterWebserver = GuardedWebserver  # type: ignore[attr-defined]  # no setting for it
    dagster_webserver.cli.cli(auto_envvar_prefix="DAGSTER_WEBSERVER")


if __name__ == "__main__":
    main()
