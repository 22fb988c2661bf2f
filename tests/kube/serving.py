"""HTTP servers on the loopback that can be cut off, and that stream."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_LOOK_SECONDS = 0.05


class Server(ThreadingHTTPServer):
    """A server in threads of its own, up at once. Port 0 takes any free one."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, handler: type[Handler], port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self.is_up = True
        self._tls = tls
        self._connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), handler)
        threading.Thread(target=self.serve_forever, args=(_LOOK_SECONDS,), daemon=True).start()

    @property
    def port(self) -> int:
        """Port on which it listens."""
        return int(self.server_address[1])

    def end(self) -> None:
        """Cut all connections and listen no more."""
        self.is_up = False
        self.shutdown()
        self.server_close()
        for connection in list(self._connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """A connection's thread."""
        with suppress(OSError):
            connection = self._tls.wrap_socket(request, server_side=True) if self._tls else request
            self._connections.add(connection)
            super().process_request_thread(connection, client_address)
            self._connections.discard(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error."""


class Handler(BaseHTTPRequestHandler):
    """Requests of a connection, one after the other."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def serve(self, body: bytes) -> None:
        """Answer a request."""
        raise NotImplementedError

    @property
    def token(self) -> str:
        """As whom the client asks."""
        return (self.headers.get("Authorization") or "").removeprefix("Bearer ")

    def log_message(self, *_: Any) -> None:
        """Requests are not told."""

    def _serve(self) -> None:
        try:
            self.serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        except OSError:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def send_json(self, code: int, value: Any) -> None:
        """Send an answer."""
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self, type_: str, pieces: Iterator[bytes]) -> None:
        """Send pieces as they come."""
        self.send_response(200)
        self.send_header("Content-Type", type_)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for piece in filter(None, pieces):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
