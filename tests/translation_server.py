"""Google's and Microsoft's translation services on 127.0.0.1, in the form of their documentation.

It fails as they do, where it is told to, and keeps account of what it was paid for.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.http_server import http_server

KEY, REGION = "key-of-the-test", "westeurope"
GOOGLE_PATH, MICROSOFT_PATH = "/language/translate/v2", "/translate"


def google_error(code: int, message: str, reason: str, *details: Mapping[str, Any]) -> dict[str, Any]:
    errors = [{"message": message, "domain": "global", "reason": reason}]
    more = {"status": "INVALID_ARGUMENT", "details": details} if details else {}
    return {"error": {"code": code, "message": message, "errors": errors, **more}}


def microsoft_error(code: int, message: str) -> dict[str, Any]:
    return {"error": {"code": code, "message": message}}


# What Google answers to a key that is none: 400, as to a request that is none
NO_KEY = google_error(
    400,
    "API key not valid. Please pass a valid API key.",
    "badRequest",
    {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
        "metadata": {"service": "translate.googleapis.com"},
    },
)
NO_LANGUAGE = google_error(
    400,
    "Bad language pair: en|xx",
    "badRequest",
    {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": "target", "description": "Target language: xx"}],
    },
)
# Status and body by service and fault; what both fail in stands below
FAULTS: Mapping[str, dict[str, tuple[int, Any]]] = {
    "google": {
        "limit": (403, google_error(403, "User Rate Limit Exceeded", "userRateLimitExceeded")),
        "daily": (403, google_error(403, "Daily Limit Exceeded", "dailyLimitExceeded")),
        "language": (400, NO_LANGUAGE),
        "400": (400, google_error(400, "Invalid Value", "invalid")),
        "500": (500, google_error(500, "Backend Error", "backendError")),
    },
    "microsoft": {
        "limit": (429, microsoft_error(429001, "The client has exceeded request limits.")),
        "daily": (403, microsoft_error(403001, "Out of call volume quota.")),
        "language": (400, microsoft_error(400036, "The target language is not valid.")),
        "400": (400, microsoft_error(400000, "One of the request inputs is not valid.")),
        "500": (503, microsoft_error(503000, "Service is temporarily unavailable.")),
    },
}
OTHER_FAULTS = ("429", "page", "dropped", "few", "silence", "shape")


@dataclass
class Company:
    """The service of one of them; each line is its translation.

    translate  makes a translation of a line
    faults     those of the next requests, in order; "" for none
    requests   what was asked: headers and query, without lines
    paid       the lines of each request that was paid for
    """

    name: str
    translate: Callable[[str], str]
    faults: Iterator[str] = field(default_factory=lambda: iter(()))
    delay: float = 0.0
    silence: float = 2.0
    rejected: frozenset[str] = frozenset()
    requests: list[tuple[Mapping[str, str], Mapping[str, Any]]] = field(default_factory=list)
    paid: list[Sequence[str]] = field(default_factory=list)
    running: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_fault(self) -> str:
        with self.lock:
            return next(self.faults, "")


@contextmanager
def translation_server(company: Company) -> Iterator[str]:
    """The service; its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            with company.lock:
                company.running += 1
            try:
                self._answer()
            finally:
                with company.lock:
                    company.running -= 1

        def _answer(self) -> None:
            google = company.name == "google"
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            url = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            lines = body["q"] if google else [one["Text"] for one in body]
            told = {name: body[name] for name in body if name != "q"} if google else asked
            company.requests.append((dict(self.headers), told))
            time.sleep(company.delay)
            key = self.headers["X-goog-api-key" if google else "Ocp-Apim-Subscription-Key"]
            if url.path != (GOOGLE_PATH if google else MICROSOFT_PATH):
                self._send(404, {})
            elif key != KEY:
                status, body = (400, NO_KEY) if google else (401, microsoft_error(401000, "…"))
                self._send(status, body)
            elif company.rejected & {*lines}:
                self._send(413, {})
            else:
                self._translate(company.next_fault(), lines, google)

        def _translate(self, fault: str, lines: Sequence[str], google: bool) -> None:
            if fault in FAULTS[company.name]:
                status, body = FAULTS[company.name][fault]
                return self._send(status, body)
            if fault == "429":
                return self._send(429, {}, {"Retry-After": "0"})
            if fault == "page":
                return self._send(200, "<html>")
            if fault == "shape":
                return self._send(200, {"data": None} if google else [{"translations": []} for _ in lines])
            if fault == "silence":
                time.sleep(company.silence)
            if fault in ("dropped", "silence"):
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()
                return None
            company.paid.append(lines)
            texts = [company.translate(line) for line in lines[: -1 if fault == "few" else None]]
            if google:
                return self._send(200, {"data": {"translations": [{"translatedText": one} for one in texts]}})
            to = parse_qs(urlsplit(self.path).query)["to"][0]
            return self._send(200, [{"translations": [{"text": one, "to": to}]} for one in texts])

        def _send(self, status: int, body: Any, headers: Mapping[str, str] = {}) -> None:
            content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with http_server(Handler) as url:
        yield url
