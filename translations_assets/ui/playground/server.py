"""The playground's web server on 127.0.0.1: the page, browsers' engine, exported models and a teacher."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from translations_assets.common.errors import TranslationsError
from translations_assets.common.settings import repository_root
from translations_assets.ui.guard import GUARDS
from translations_assets.ui.playground.models import ExportedModel
from translations_assets.ui.playground.teacher import MOST_CHARACTERS, Teacher, TextRefused

INSTALLED = repository_root() / "requirements" / "browser"  # by npm, from the lock there
ENGINE = INSTALLED / "node_modules" / "@browsermt" / "bergamot-translator"
PAGE = Path(__file__).with_name("page")

_MOST_BYTES = 16 * MOST_CHARACTERS  # of a request: JSON writes a character in 12 bytes at most
_TOO_LONG = f"The teacher translates texts of at most {MOST_CHARACTERS:,} characters."
_END_SECONDS = 2  # for requests that are being answered when the server ends
_ENGINE_FILES = (
    "translator.js",
    *(f"worker/{name}" for name in ("translator-worker.js", "bergamot-translator-worker.js")),
    "worker/bergamot-translator-worker.wasm",
)
_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
}
_HEADERS = {
    # The page reaches no other server. Emscripten's bindings in the engine make functions from text.
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-eval'; img-src data:; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",  # the next model may come from the same address
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class Playground:
    """Contents of the page.

    models    exported models, which the browser runs; the first one is what the page is about
    teacher   what Marian runs beside them, if anything
    examples  sentences to try
    """

    models: Sequence[ExportedModel]
    teacher: Teacher | None = None
    examples: Sequence[str] = ()


def application(shown: Playground, engine: Path) -> Starlette:
    """GET of the page's, the engine's and the models' files and of about.json, POST for the teacher."""
    if not (engine / "translator.js").is_file():
        raise TranslationsError(
            f"The engine of browsers is not in {engine}. To install it: npm ci --prefix {INSTALLED}"
        )
    files = _files(shown.models, engine)
    about = _about(shown)

    async def get_file(request: Request) -> Response:
        path = files.get(request.url.path)
        if path is None:
            return PlainTextResponse("There is no such file here.", 404, _HEADERS)
        return FileResponse(
            path, headers=_HEADERS, media_type=_TYPES.get(path.suffix, "application/octet-stream")
        )

    async def get_about(request: Request) -> Response:
        return JSONResponse(about, headers=_HEADERS)

    async def ask_teacher(request: Request) -> Response:
        try:
            return JSONResponse(await _taught(shown.teacher, request), headers=_HEADERS)
        except TextRefused as refused:
            return JSONResponse({"error": str(refused)}, refused.status, _HEADERS)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        if shown.teacher:
            await shown.teacher.end()

    return Starlette(
        routes=[
            Route("/about.json", get_about),
            Route("/teacher", ask_teacher, methods=["POST"]),
            Route("/{path:path}", get_file),
        ],
        middleware=list(GUARDS),
        lifespan=lifespan,
    )


def _files(models: Sequence[ExportedModel], engine: Path) -> Mapping[str, Path]:
    """The path in an address → the file. Nothing else is served."""
    page = {f"/{path.name}": path for path in PAGE.iterdir() if path.is_file()}
    return {
        "/": PAGE / "index.html",
        **page,
        **{f"/engine/{name}": engine / name for name in _ENGINE_FILES},
        **{
            f"/models/{number}/{name}": path
            for number, model in enumerate(models)
            for name, path in model.files.items()
        },
    }


def _about(shown: Playground) -> dict[str, Any]:
    teacher = shown.teacher
    return {
        "models": [model.about(f"models/{number}") for number, model in enumerate(shown.models)],
        "teacher": {"name": teacher.name, "bytes": teacher.bytes, "characters": MOST_CHARACTERS}
        if teacher
        else None,
        "examples": shown.examples,
    }


async def _taught(teacher: Teacher | None, request: Request) -> dict[str, Any]:
    """Translate a request's sentences with the teacher; return that, and the seconds it took."""
    if teacher is None:
        raise TextRefused(404, "There is no teacher here.")
    translations, seconds = await teacher.translate(await _sentences(request))
    return {"translations": translations, "seconds": seconds}


async def _sentences(request: Request) -> list[str]:
    """Those of a request, `{"sentences": ["…"]}`. Raises TextRefused for anything else."""
    # A page elsewhere may send only other types without asking whether it may
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise TextRefused(415, "Sentences come as application/json.")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            raise TextRefused(413, _TOO_LONG)
    try:
        sentences = json.loads(body)["sentences"]
    except (ValueError, KeyError, TypeError, RecursionError):
        sentences = None
    if not isinstance(sentences, list) or not all(isinstance(one, str) for one in sentences):
        raise TextRefused(400, 'A request looks like {"sentences": ["…"]}.')
    if sum(len(one) or 1 for one in sentences) > MOST_CHARACTERS:
        raise TextRefused(413, _TOO_LONG)
    return sentences


def serve(shown: Playground, engine: Path, port: int) -> None:
    """Print the address, and serve until Ctrl-C or SIGTERM. Port 0: any that is free."""
    app = application(shown, engine)
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise TranslationsError(
            f"Port {port} cannot be used: {error.strerror}. Give another one: --port 0 finds a free one."
        ) from error
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_END_SECONDS, server_header=False)
    )
    # The server sends itself the signal again at its end: this process goes on, to remove what is temporary
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with listening, suppress(KeyboardInterrupt):
            print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
            server.run(sockets=[listening])
    finally:
        signal.signal(signal.SIGTERM, before)
