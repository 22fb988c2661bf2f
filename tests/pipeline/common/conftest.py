"""A small server on this machine that truncates, redirects, fails and answers ranges."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from pipeline.common import web
from tests.http_server import http_server

CONTENT = b"".join(b"Line %d of a text.\n" % number for number in range(20_000))  # 0.4 MB
CHANGED = CONTENT.replace(b"text", b"book")


@dataclass
class Answer:
    """One answer of the server."""

    status: int = 200
    content: bytes = CONTENT
    cut_at: int | None = None  # close the connection after this many bytes of the body
    ranges: bool = True
    etag: str = '"one"'
    location: str = ""
    linked: str = ""  # the digest that the hub gives where it sends on


@dataclass
class Server:
    """Plays its answers in turn, the last one again and again; remembers the headers of the requests.

    pause  from the second request on nobody is answered
    """

    answers: list[Answer]
    url: str = ""
    pause: bool = False
    requests: list[dict[str, str]] = field(default_factory=list)

    def next_answer(self) -> Answer:
        return self.answers[min(len(self.requests), len(self.answers)) - 1]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(web, "PAUSE", 0.001)
    monkeypatch.delenv("TRANSLATIONS_MIRROR", raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    script = Server([Answer()])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            script.requests.append(dict(self.headers))
            while script.pause and len(script.requests) > 1:
                time.sleep(0.01)
            _send(self, script.next_answer())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http_server(Handler) as script.url:
        yield script


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    wanted = handler.headers.get("Range", "")
    start = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
    unchanged = handler.headers.get("If-Range", answer.etag) == answer.etag
    partial = bool(wanted) and answer.ranges and unchanged and answer.status == 200
    body = answer.content[start:] if partial else answer.content
    handler.send_response(206 if partial else answer.status)
    handler.send_header("Content-Length", str(len(body)))
    handler.send_header("ETag", answer.etag)
    if partial:
        handler.send_header("Content-Range", f"bytes {start}-{len(answer.content) - 1}/{len(answer.content)}")
    if answer.location:
        handler.send_header("Location", answer.location)
    if answer.linked:
        handler.send_header("X-Linked-Etag", f'"{answer.linked}"')
    handler.end_headers()
    handler.wfile.write(body[: answer.cut_at])


def left_over(folder: Path) -> list[str]:
    """The names of what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())
