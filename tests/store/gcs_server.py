"""A server that speaks as Google Cloud Storage does, in memory, for tests.

The package gcp-storage-emulator answers; around it stands what it lacks: conditions on generations, several
requests at a time, listings by page, uploads that go on where they were cut off, and faults on demand. In
another process, for at most so many seconds: python -m tests.store.gcs_server BUCKET [SECONDS]
"""

from __future__ import annotations

import json
import logging
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from typing import Any

from gcp_storage_emulator.exceptions import NotFound
from gcp_storage_emulator.handlers import buckets, objects
from gcp_storage_emulator.server import HANDLERS, Request, RequestHandler, Response
from gcp_storage_emulator.storage import Storage

from tests.store.faults import Faulty

BUCKET = "tests"
_LONG_AGO = "2026-01-02T03:04:05.678Z"
logging.getLogger("gcp_storage_emulator").setLevel(logging.CRITICAL)  # it logs what is not there as an error
logging.getLogger("api.object").setLevel(logging.CRITICAL)
_PAGE = 1000  # the service's own limit
_CONDITIONS = ("ifGenerationMatch", "ifGenerationNotMatch", "ifMetagenerationMatch", "generation")
_UPLOAD_ID = re.compile(r"upload_id=([^&]+)")
_SECONDS = 600.0


class GcsServer(Faulty, ThreadingHTTPServer):
    """The server; `requests` are those it was sent, `faults` what will go wrong with the next ones."""

    writes = "POST /upload"  # what requests that write an object begin with
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, *names: str) -> None:
        Faulty.__init__(self)
        ThreadingHTTPServer.__init__(self, ("127.0.0.1", 0), _Handler)
        self.storage = _Storage(use_memory_fs=True)
        for name in names:
            buckets.create_bucket(name, self.storage)
        self.conditions: dict[str, tuple[str, dict[str, int]]] = {}  # of an upload: name, conditions
        self._sockets: set[socket.socket] = set()

    @property
    def environment(self) -> dict[str, str]:
        """Variables of processes that use it."""
        return {"STORAGE_EMULATOR_HOST": self.url}

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_port}"

    def names(self, bucket: str = BUCKET) -> list[str]:
        """Names of the objects in a bucket."""
        return sorted(self.storage.objects.get(bucket, ()))

    def contents(self, name: str, bucket: str = BUCKET) -> bytes:
        """An object's contents."""
        return bytes(self.storage.get_file(bucket, name))

    def damage(self, name: str, data: bytes, bucket: str = BUCKET) -> None:
        """Give an object other contents behind everybody's back, its checksums with them."""
        with self.lock:
            found = self.storage.get_file_obj(bucket, name)
            found.update(size=str(len(data)), crc32c=None, md5Hash=None)
            self.storage.create_file(bucket, name, data, objects._checksums(data, found))

    def age(self) -> None:
        """Let everything that is there be old."""
        with self.lock:
            for found in self.storage.objects[BUCKET].values():
                found.update(updated=_LONG_AGO, timeCreated=_LONG_AGO)

    def multiply(self, name: str, others: Iterable[str]) -> None:
        """Let other names have an object's contents, too."""
        with self.lock:
            there = self.storage.objects[BUCKET]
            there.update({other: {**there[name], "name": other} for other in others})

    def clear(self) -> None:
        """Forget all objects, requests and faults."""
        with self.lock:
            for names in self.storage.objects.values():
                names.clear()
            self.requests.clear()
            self.faults.clear()

    def get_request(self) -> tuple[socket.socket, Any]:
        """Remember a connection, so that the end of the server is its end, too."""
        accepted = super().get_request()
        self._sockets.add(accepted[0])
        return accepted

    def shutdown_request(self, request: Any) -> None:
        """Forget a connection that ends."""
        self._sockets.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about connections that the client, or a fault, has ended."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def end(self) -> None:
        """Stop listening and end every connection."""
        self.shutdown()
        self.server_close()
        for accepted in list(self._sockets):
            accepted.close()


@contextmanager
def serve(*names: str) -> Iterator[GcsServer]:
    """A server with these buckets, until the end of the block."""
    server = GcsServer(*names)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.end()
        thread.join()


class _Storage(Storage):  # type: ignore[misc]
    """The emulator's storage, which would write everything to JSON at each change, and delete nothing."""

    def __init__(self, **options: Any) -> None:
        self._received: dict[str, bytearray] = {}
        super().__init__(**options)

    def _write_config_to_file(self) -> None:
        pass

    def _bucket_soft_delete_retention_seconds(self, bucket_name: str) -> int:
        return 0

    def received(self, file_id: str) -> bytes:
        """Bytes of an upload that were sent so far."""
        return bytes(self._received.get(file_id, b""))

    def get_resumable_byte_count(self, file_id: str) -> int:
        return len(self._received.get(file_id, b""))

    def add_to_resumable_upload(
        self, file_id: str, content: bytes, total_size: int | None = None, expected_start: int | None = None
    ) -> bytes | None:
        """Keep what goes on from what is there: bytes that are sent twice are overlooked."""
        received = self._received.setdefault(file_id, bytearray())
        start = len(received) if expected_start is None else expected_start
        received += content[len(received) - start :]
        return bytes(received) if len(received) == total_size else None


class _Handler(RequestHandler):  # type: ignore[misc]
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for an answer's head and body
    disable_nagle_algorithm = True
    server: GcsServer

    def __init__(self, request: Any, address: Any, server: GcsServer) -> None:
        super().__init__(server.storage, request, address, server)

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_PUT(self) -> None:
        self._serve("PUT")

    def do_PATCH(self) -> None:
        self._serve("PATCH")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _serve(self, method: str) -> None:
        part = self.headers.get("Content-Range") or self.headers.get("Range") or ""
        fault = self.server.fault(f"{method} {self.path} {part}".rstrip())
        kind = fault.kind if fault else ""
        if fault and kind == "cut body":
            self._keep_a_part(fault.after)
        if fault and kind in ("cut body", "slow"):
            time.sleep(fault.seconds)
        if kind in ("cut body", "lost request"):
            self._hang_up()
            return
        request, response = Request(self, method), Response(self)
        _ = request.data  # the body, before anybody waits for us
        if fault and kind == "status":
            _refuse(response, fault.status, "The service is not in the mood.")
            if fault.retry_after:
                response["Retry-After"] = fault.retry_after
        else:
            with self.server.lock:
                self._answer(request, response)
        if kind == "lost answer":
            self._hang_up()
        elif kind == "flipped answer":
            response._content = bytes([response._content[0] ^ 1]) + response._content[1:]
            response.close()
        elif fault and kind == "cut answer":
            self._send_a_part(response, fault.after)
        else:
            response.close()

    def _answer(self, request: Any, response: Any) -> None:
        for pattern, handlers in _ROUTES:
            match = pattern.fullmatch(request.path)
            if match and (handler := handlers.get(request.method)):
                request.set_match(match)
                if not self._is_refused(request, response):
                    handler(request, response, self.storage)
                    self._complete(request, response)
                return
        _refuse(response, 501, f"{request.method} {request.path} is not known here.")

    def _is_refused(self, request: Any, response: Any) -> bool:
        """True if the bucket is missing, or a condition does not hold: then that is the answer."""
        bucket = request.params.get("bucket_name")
        if bucket not in self.storage.buckets:
            _refuse(response, 404, "The specified bucket does not exist.")
            return True
        name, wanted = self._wanted(request)
        found = self.storage.objects.get(bucket, {}).get(name, {})
        is_generation, has_metageneration = int(found.get("generation", 0)), found.get("metageneration", 0)
        if wanted.get("generation", is_generation) != is_generation:
            _refuse(response, 404, f"No such object: {bucket}/{name}")
        elif (
            wanted.get("ifGenerationMatch", is_generation) != is_generation
            or wanted.get("ifGenerationNotMatch") == is_generation
            or wanted.get("ifMetagenerationMatch", int(has_metageneration)) != int(has_metageneration)
        ):
            _refuse(response, 412, "At least one of the pre-conditions you specified did not hold.")
        elif not self._is_as_sent(request):
            _refuse(response, 400, "Provided CRC32C doesn't match calculated CRC32C.")
        else:
            return False
        return True

    def _is_as_sent(self, request: Any) -> bool:
        """True if an upload that this request completes has the checksum that it names."""
        named = re.match("crc32c=(.*)", request.get_header("X-Goog-Hash", ""))
        if not named or request.method != "PUT" or not request.data:
            return True
        before = self.storage.received(request.query["upload_id"][0])
        part = re.match(r"bytes (\d+)-(\d+)/(\d+)", request.get_header("Content-Range", ""))
        if not part or int(part[2]) + 1 < int(part[3]):
            return True
        return bool(objects._crc32c(before[: int(part[1])] + request.data) == named[1])

    def _wanted(self, request: Any) -> tuple[str, dict[str, int]]:
        """The object that a request is about, and its conditions: those an upload began with, too."""
        upload = request.query.get("upload_id", [""])[0]
        if upload in self.server.conditions:
            return self.server.conditions[upload]
        params, data = request.params, request.data
        name = params.get("dest_object_id") or params.get("object_id") or request.query.get("name", [""])[0]
        if not name and isinstance(data, dict):
            name = data.get("meta", data).get("name", "")
        return name, {key: int(request.query[key][0]) for key in _CONDITIONS if key in request.query}

    def _complete(self, request: Any, response: Any) -> None:
        """Add to an answer what the emulator leaves out."""
        headers = response._headers
        if match := _UPLOAD_ID.search(headers.get("Location", "")):
            self.server.conditions[match[1]] = self._wanted(request)
        if response.status == HTTPStatus.NOT_FOUND:
            _refuse(response, 404, f"No such object: {request.path}")
            return
        name, _ = self._wanted(request)
        found = self.storage.objects.get(request.params["bucket_name"], {}).get(name)
        if found and request.method == "GET":
            headers["X-Goog-Generation"] = found["generation"]
        if found and request.method == "PATCH":
            found["updated"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def _keep_a_part(self, size: int) -> None:
        """Read the beginning of a body; an upload that can go on keeps it."""
        data = self.rfile.read(size)
        upload = Request(self, "PUT").query.get("upload_id", [""])[0]
        if match := re.match(r"bytes (\d+)-", self.headers.get("Content-Range", "")):
            with self.server.lock:
                self.storage.add_to_resumable_upload(upload, data, expected_start=int(match[1]))

    def _send_a_part(self, response: Any, size: int) -> None:
        self.send_response(response.status.value)
        for name, value in response._headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response._content)))
        self.end_headers()
        self.wfile.write(response._content[:size])
        self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)


def _refuse(response: Any, status: int, message: str) -> None:
    response.status = HTTPStatus(status)
    response.json({"error": {"code": status, "message": message}})


def _list(request: Any, response: Any, storage: Any) -> None:
    """A page of a listing: objects and folders together, in order, after the last one of the page before."""

    def asked(name: str) -> str:
        return str(request.query.get(name, [""])[0])

    try:
        found, folders = storage.get_file_list(
            request.params["bucket_name"], asked("prefix") or None, asked("delimiter") or None
        )
    except NotFound:
        response.status = HTTPStatus.NOT_FOUND
        return
    items = {item["name"]: item for item in found}
    names = sorted(name for name in (*items, *folders) if name > asked("pageToken"))
    page = names[: int(asked("maxResults") or _PAGE)]
    answer: dict[str, Any] = {
        "kind": "storage#objects",
        "items": [items[name] for name in page if name in items],
        "prefixes": [name for name in page if name not in items],
    }
    if len(page) < len(names):
        answer["nextPageToken"] = page[-1]
    response.json(answer)


def _routes() -> list[tuple[re.Pattern[str], dict[str, Callable[..., None]]]]:
    replaced = {objects.ls: _list}
    return [
        (re.compile(pattern), {method: replaced.get(known, known) for method, known in handlers.items()})
        for pattern, handlers in HANDLERS
    ]


_ROUTES = _routes()


def main(bucket: str, seconds: float = _SECONDS) -> None:
    """Print the URL, then serve until stdin ends or the time is over."""
    with serve(bucket) as server:
        print(json.dumps({"url": server.url}), flush=True)
        stop = threading.Thread(target=sys.stdin.read, daemon=True)
        stop.start()
        stop.join(seconds)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if sys.argv[2:] else _SECONDS)
