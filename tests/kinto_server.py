"""A server that keeps a collection as Remote Settings does: Kinto with attachments, in memory, for tests.

Requests without a login, with a condition that does not hold, and while the server is busy are refused with
Kinto's statuses and its form of errors. The files of attachments lie below /attachments/.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.http_server import http_server

LOGIN = "editor:s3cret"
_OBJECT = re.compile(r"/v1/buckets/([\w-]+)(?:/collections/([\w-]+)(/records(?:/([\w-]+)(/attachment)?)?)?)?")
_ERRORS = {401: 104, 403: 121, 404: 110, 412: 114, 503: 201}  # Kinto's numbers of errors


class KintoServer:
    """Stand-in for the server, with one bucket.

    url       where it listens, with the version
    records   id → record; None before there is a collection
    files     location → contents of an attachment
    status    of the collection, as reviews have it
    requests  method and path of each
    busy      how many further requests are answered 503
    lost      how many further attachments are kept, but answered 503
    refused   how many further requests of these methods are answered 403
    """

    def __init__(self, bucket: str) -> None:
        self.url, self.bucket = "", bucket
        self.records: dict[str, dict[str, Any]] | None = None
        self.files: dict[str, bytes] = {}
        self.status = "signed"
        self.requests: list[str] = []
        self.busy = self.lost = 0
        self.refused: dict[str, int] = {}
        self._time = 1000

    def answer(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        """Status and JSON of the answer to a request."""
        path, query = urlsplit(url).path, dict(parse_qsl(urlsplit(url).query))
        self.requests.append(f"{method} {path}")
        if self.busy:
            self.busy -= 1
            return 503, None
        if method != "GET" and headers.get("Authorization") != f"Basic {_basic(LOGIN)}":
            return 401, None
        if self.refused.get(method):
            self.refused[method] -= 1
            return 403, None
        found = _OBJECT.fullmatch(path)
        if not found or found[1] != self.bucket:
            return 403, None  # Kinto does not tell whether a bucket exists
        if not found[3]:
            return self._collection(method, headers, body)
        if self.records is None:
            return 404, None
        if not found[4]:
            return 200, {"data": [one for one in self.records.values() if query.items() <= one.items()]}
        return self._record(method, found[4], headers, body)

    def _collection(self, method: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        if method == "PUT":
            if self.records is not None and headers.get("If-None-Match") == "*":
                return 412, None
            self.records = {}
            return 201, {"data": {}}
        if self.records is None:
            return 404, None
        if method == "PATCH":
            self.status = json.loads(body)["data"]["status"]
        return 200, {"data": {"status": self.status}}

    def _record(self, method: str, name: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        assert self.records is not None
        there = self.records.get(name)
        if method == "GET":
            return (200, {"data": there}) if there else (404, None)
        wanted = headers.get("If-Match")
        if headers.get("If-None-Match") == "*" and there:
            return 412, None
        if wanted and wanted != f'"{there["last_modified"] if there else 0}"':
            return 412, None
        self.status = "work-in-progress"
        if method == "DELETE":
            return (200, {"data": self.records.pop(name)}) if there else (404, None)
        self._attach(name, headers["Content-Type"], body)
        if self.lost:
            self.lost -= 1
            return 503, None
        return 201, self.records[name]["attachment"]

    def _attach(self, name: str, content_type: str, body: bytes) -> None:
        assert self.records is not None
        parts: Any = message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + body)
        fields = {part.get_param("name", header="Content-Disposition"): part for part in parts.get_payload()}
        contents = fields["attachment"].get_payload(decode=True)
        self._time += 1
        location = f"{self.bucket}/translations-models-v2/{self._time:08x}.zst"
        self.files[location] = contents
        self.records[name] = {
            **self.records.get(name, {}),
            **json.loads(fields["data"].get_payload()),
            "id": name,
            "last_modified": self._time,
            "attachment": {
                "filename": fields["attachment"].get_filename(),
                "hash": hashlib.sha256(contents).hexdigest(),
                "location": location,
                "mimetype": fields["attachment"].get_content_type(),
                "size": len(contents),
            },
        }


def _basic(login: str) -> str:
    return base64.b64encode(login.encode()).decode()


@contextmanager
def kinto_server(bucket: str) -> Iterator[KintoServer]:
    """A server with a bucket that has no collection yet, for as long as the block."""
    server = KintoServer(bucket)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            status, told = 200, None
            if self.path.startswith("/attachments/"):
                contents: bytes = server.files[self.path.removeprefix("/attachments/")]
            else:
                status, told = server.answer(self.command, self.path, dict(self.headers.items()), body)
                if status >= 400:
                    told = {"code": status, "errno": _ERRORS[status], "error": "", "message": "as Kinto says"}
                contents = json.dumps(told).encode()
            self.send_response(status)
            if status == 503:
                self.send_header("Retry-After", "3")
            self.send_header("Content-Type", "application/json" if told else "application/zstd")
            self.send_header("Content-Length", str(len(contents)))
            self.end_headers()
            self.wfile.write(contents)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    with http_server(Handler) as url:
        server.url = f"{url}/v1"
        yield server
