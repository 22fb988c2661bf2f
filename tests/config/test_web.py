"""Reading answers: from a mirror, and from a server that answers in every way."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.http_server import http_server
from translations_assets.config import web
from translations_assets.config.web import NoAnswer, NotThere, read, read_json

NOWHERE = "http://127.0.0.1:9"  # nothing listens there
STATUS = {"missing": 404, "forbidden": 403, "busy": 503, "moved": 302}


class Server(BaseHTTPRequestHandler):
    """Answers by the path."""

    asked: list[str] = []

    def do_GET(self) -> None:
        kind = self.path.strip("/")
        self.asked.append(kind)
        status = STATUS.get(kind, 200)
        if kind == "shaky" and self.asked.count(kind) == 1:
            status = 500
        self.send_response(status)
        if kind == "moved":
            self.send_header("Location", "/good")
        self.end_headers()
        if status == 200:
            self.wfile.write(b'{"a": 1}' if kind != "page" else b"<html>")

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server; trying again does not wait."""
    monkeypatch.setattr(web, "PAUSE", 0.0)
    Server.asked = []
    with http_server(Server) as url:
        yield url


def test_an_answer_and_one_that_has_moved(server: str) -> None:
    assert read(f"{server}/good", "") == read(f"{server}/moved", "") == b'{"a": 1}'
    assert read_json(f"{server}/good", "") == {"a": 1}


@pytest.mark.parametrize("kind", ["missing", "forbidden"])
def test_what_is_not_there_is_asked_for_once(server: str, kind: str) -> None:
    with pytest.raises(NotThere, match=str(STATUS[kind])):
        read(f"{server}/{kind}", "")
    assert Server.asked == [kind]


def test_a_server_that_fails_is_asked_twice(server: str) -> None:
    assert read(f"{server}/shaky", "") == b'{"a": 1}'
    with pytest.raises(NoAnswer, match="busy: status 503"):
        read(f"{server}/busy", "")
    assert Server.asked == ["shaky", "shaky", "busy", "busy"]


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PAUSE", 0.0)
    with pytest.raises(NoAnswer, match=f"no answer from {NOWHERE}/x: ConnectionError"):
        read(f"{NOWHERE}/x", "")


def test_an_answer_without_end(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "LARGEST", 5)
    with pytest.raises(NoAnswer, match="more than 5 bytes"):
        read(f"{server}/good", "")


def test_no_json(server: str) -> None:
    with pytest.raises(NoAnswer, match="page does not answer with JSON"):
        read_json(f"{server}/page", "")


def test_the_mirror_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "127.0.0.1:9" / "list"
    folder.mkdir(parents=True)
    (folder / "index.html").write_bytes(b"of the folder")
    (folder / "?source=en&target=lt").write_bytes(b"of the query")
    assert read(f"{NOWHERE}/list/", str(tmp_path)) == b"of the folder"
    assert read(f"{NOWHERE}/list/?source=en&target=lt", str(tmp_path)) == b"of the query"


def test_what_the_mirror_lacks_comes_from_the_server(server: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"outside")
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    assert read(f"{server}/good", str(mirror)) == b'{"a": 1}'
    assert read(f"{server}/%2e%2e/../secret", str(mirror)) != b"outside"


def test_a_mirror_in_a_bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "GOOGLE_STORAGE", f"{server}/")
    assert read(f"{NOWHERE}/x", "gs://bucket/copies/") == b'{"a": 1}'
    assert Server.asked == ["bucket/copies/127.0.0.1:9/x"]
