"""A server that speaks as S3 does, in memory, for tests: moto answers, one request at a time, and may fail.

In another process, for at most so many seconds: python -m tests.store.s3_server BUCKET [SECONDS]
"""

from __future__ import annotations

import io
import json
import logging
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from wsgiref.types import StartResponse, WSGIEnvironment

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import S3Backend, s3_backends
from werkzeug.serving import WSGIRequestHandler, make_server

from tests.store.faults import Fault, Faulty

BUCKET = "tests"
_WORDS = {400: "BadRequest", 403: "AccessDenied", 500: "InternalError", 503: "SlowDown"}
_LONG_AGO = datetime(2026, 1, 2, 3, 4, 5)
_SECONDS = 600.0


class S3Server(Faulty):
    """The server; its bucket keeps versions."""

    writes = "PUT /"  # what requests that write an object begin with

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._app = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=_Handler)
        for name in names:
            if name not in self.backend.buckets:  # moto has one backend for all servers of a process
                self.backend.create_bucket(name, "us-east-1")
            self.backend.put_bucket_versioning(name, "Enabled")
        self.clear()

    @property
    def environment(self) -> dict[str, str]:
        """Variables of processes that use it."""
        return environment(self.url)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def backend(self) -> S3Backend:
        """Moto's own objects."""
        return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]

    def serve_forever(self) -> None:
        """Answer until `end`."""
        self._server.serve_forever(poll_interval=0.05)

    def end(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def names(self, bucket: str = BUCKET) -> list[str]:
        """Names of the objects in a bucket, one for each version."""
        with self.lock:
            keys = self.backend.buckets[bucket].keys
            return sorted(name for name in keys for _ in keys.getlist(name))

    def contents(self, name: str, bucket: str = BUCKET) -> bytes:
        """An object's contents."""
        with self.lock:
            return bytes(self.backend.buckets[bucket].keys[name].value)

    def damage(self, name: str, data: bytes, bucket: str = BUCKET) -> None:
        """Give an object other contents behind everybody's back, as a program that notes nothing."""
        with self.lock:
            key = self.backend.buckets[bucket].keys[name]
            key._value_buffer.seek(0)
            key._value_buffer.truncate()
            key.value, key._etag = data, None
            key._metadata.clear()

    def age(self) -> None:
        """Let everything that is there be old."""
        with self.lock:
            keys = self.backend.buckets[BUCKET].keys
            for name in keys:
                for version in keys.getlist(name):
                    version.last_modified = _LONG_AGO

    def multiply(self, name: str, others: Iterable[str]) -> None:
        """Let other names have an object's contents, too."""
        with self.lock:
            key = self.backend.buckets[BUCKET].keys[name]
            for other in others:
                self.backend.put_object(BUCKET, other, key.value).set_metadata(key.metadata)

    def clear(self) -> None:
        """Forget all objects, requests and faults."""
        with self.lock:
            for bucket in self.backend.buckets.values():
                bucket.keys.clear()
                bucket.multiparts.clear()
            self.requests.clear()
            self.faults.clear()

    def _answer(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        target = environ["PATH_INFO"] + (f"?{query}" if (query := environ.get("QUERY_STRING")) else "")
        request = f"{environ['REQUEST_METHOD']} {target} {environ.get('HTTP_RANGE', '')}".rstrip()
        fault = self.fault(request) or Fault("none")
        if fault.kind in ("cut body", "slow"):
            if fault.kind == "cut body":
                environ["wsgi.input"].read(min(fault.after, int(environ.get("CONTENT_LENGTH") or 0)))
            time.sleep(fault.seconds)
        if fault.kind in ("cut body", "lost request"):
            _hang_up(environ)
        environ["wsgi.input"] = io.BytesIO(
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        )
        if fault.kind == "status":
            return _refuse(start, fault)
        with self.lock:
            status, headers, body = self._done(environ)
        if fault.kind == "lost answer":
            _hang_up(environ)
        if fault.kind == "flipped answer":
            body = bytes([body[0] ^ 1]) + body[1:]
        start(status, headers)
        return _cut(environ, body[: fault.after]) if fault.kind == "cut answer" else [body]

    def _done(self, environ: WSGIEnvironment) -> tuple[str, list[tuple[str, str]], bytes]:
        answered: list[Any] = []
        parts = self._app(environ, lambda status, headers, *_: answered.extend((status, headers)))
        body = b"".join(parts)
        return answered[0], answered[1], body


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *args: Any, **options: Any) -> None:
        """Say nothing."""

    def log_error(self, *args: Any) -> None:
        """Say nothing of connections that a fault has ended."""


def _refuse(start: StartResponse, fault: Fault) -> Iterable[bytes]:
    code = fault.code or _WORDS.get(fault.status, "Other")
    body = f"<Error><Code>{code}</Code><Message>The service is not in the mood.</Message></Error>".encode()
    headers = [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
    start(
        f"{fault.status} Refused", headers + ([("Retry-After", fault.retry_after)] * bool(fault.retry_after))
    )
    return [body]


def _hang_up(environ: WSGIEnvironment) -> None:
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    raise ConnectionResetError("as told")


def _cut(environ: WSGIEnvironment, body: bytes) -> Iterator[bytes]:
    yield body
    _hang_up(environ)


def environment(url: str) -> dict[str, str]:
    """Variables of who uses a service: nobody's own credentials, and no wait for a machine's role."""
    return {
        "AWS_ENDPOINT_URL_S3": url,
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nowhere",
        "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
    }


@contextmanager
def serve(*names: str) -> Iterator[S3Server]:
    """A server with these buckets, until the end of the block."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = S3Server(*names)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join()


def main(bucket: str, seconds: float = _SECONDS) -> None:
    """Print the URL, then serve until stdin ends or the time is over."""
    with serve(bucket) as server:
        print(json.dumps({"url": server.url}), flush=True)
        stop = threading.Thread(target=sys.stdin.read, daemon=True)
        stop.start()
        stop.join(seconds)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if sys.argv[2:] else _SECONDS)
