"""A server on this machine that stands for all providers, and answers as they do on good and bad days."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import requests

from pipeline.common import web
from tests.http_server import http_server

PAGE = b"<!DOCTYPE html>\n<html><head><title>Moved away</title></head><body></body></html>"


@dataclass
class Providers:
    """URL → what is there; `day` is how the server behaves to URLs that contain `where`.

    Days: good, cut (half of a file comes), missing, redirected, page, busy, locked (who are you?), refused.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    day: str = "good"
    where: str = ""
    asked: list[str] = field(default_factory=list)

    def put(self, url: str, content: bytes | str) -> None:
        self.files[url] = content.encode() if isinstance(content, str) else content


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Providers]:
    """Send every request of the downloads to a server of this process, whatever its host."""
    providers = Providers()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _answer(self, providers)

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setattr(web, "PAUSE", 0.001)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    get = requests.get
    with http_server(Handler) as here:

        def from_here(url: str, **options: Any) -> requests.Response:
            return get(f"{here}/{url}", **options)

        monkeypatch.setattr(requests, "get", from_here)
        yield providers


def _answer(handler: BaseHTTPRequestHandler, providers: Providers) -> None:
    url = handler.path.removeprefix("/")
    providers.asked.append(url)
    day = providers.day if providers.where in url and not url.endswith("moved=1") else "good"
    content = providers.files.get(url.removesuffix("?moved=1").removesuffix("&moved=1"))
    if day == "missing" or content is None:
        return _send(handler, 404, b"no such file")
    if day == "redirected":
        return _send(handler, 302, b"", Location=f"/{url}{'&' if '?' in url else '?'}moved=1")
    if day == "busy":
        return _send(handler, 503, b"busy")
    if day in ("locked", "refused"):
        return _send(handler, 401 if day == "locked" else 403, b"accept the conditions")
    if day == "page":
        return _send(handler, 200, PAGE)
    return _send(handler, 200, content, cut=day == "cut")


def _send(
    handler: BaseHTTPRequestHandler, status: int, content: bytes, cut: bool = False, **headers: str
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(content)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content[: len(content) // 2] if cut else content)
