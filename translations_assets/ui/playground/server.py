"""The playground's web server: the page, the engine of browsers, and an exported model, on 127.0.0.1."""

from __future__ import annotations

import socket
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from translations_assets.errors import TranslationsError
from translations_assets.settings import repository_root
from translations_assets.ui import HOSTS

INSTALLED = repository_root() / "requirements" / "browser"  # by npm, from the lock there
ENGINE = INSTALLED / "node_modules" / "@browsermt" / "bergamot-translator"
PAGE = Path(__file__).with_name("page")

_HEADERS = {
    # The page reaches no other server. Emscripten's bindings in the engine make functions from text.
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-eval'; img-src data:",
    "Cache-Control": "no-cache",  # the next model may come from the same address
}


class _Files(StaticFiles):
    """A folder's files, with the headers."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_HEADERS)
        return response


def application(exported: Path, engine: Path) -> Starlette:
    """The page at /, the engine at /engine, the model's files at /exported."""
    if not (engine / "translator.js").is_file():
        raise TranslationsError(
            f"The engine of browsers is not in {engine}. To install it: npm ci --prefix {INSTALLED}"
        )
    if not (exported / "records.json").is_file():
        raise TranslationsError(
            f"{exported} is no exported model: it has no records.json. To get one: translations artifacts "
            "PARTITION export-SRC-TRG --download FOLDER"
        )
    folders = {"/engine": engine, "/exported": exported, "/": PAGE}
    routes = [Mount(path, _Files(directory=folder, html=folder == PAGE)) for path, folder in folders.items()]
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS))])


def serve(exported: Path, engine: Path, port: int) -> None:
    """Print the address, and serve until Ctrl-C. Port 0: any that is free."""
    app = application(exported, engine)
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise TranslationsError(f"Port {port} cannot be used: {error.strerror}. Give another one.") from error
    with listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])
