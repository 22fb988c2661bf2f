"""The web server of a deployment: `dagster-webserver` in the image of the orchestrator.

It has no guard of its own: a proxy that asks people for their names stands before it (docs/deployment.md).
"""

from __future__ import annotations

from translations_assets.ui.web_server import Webserver, serve

if __name__ == "__main__":
    serve(Webserver)
