"""Requests to an API server, as small as the stand-in for scheduler and kubelet needs them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

from tests.kube.objects import ApiError, Object

_PATIENCE_SECONDS = 120.0  # for which a server may be away before a status is given up
_MERGE = "application/merge-patch+json"


@dataclass(frozen=True)
class Access:
    """Address of an API server, and credentials for it."""

    url: str
    token: str = ""
    certificate: Path | None = None

    def kubeconfig(self, token_file: Path | None = None) -> str:
        """The same as the file that kubectl and the official client read; with the token in a file."""
        cluster = {"server": self.url}
        if self.certificate:
            cluster["certificate-authority"] = str(self.certificate)
        user = {"token": self.token} if self.token else {}
        if token_file:
            user = {"tokenFile": str(token_file)}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
            "current-context": "test",
        }
        return json.dumps(config, indent=1)


class Rest:
    """A connection to an API server. Objects are the JSON values of the API."""

    def __init__(self, access: Access) -> None:
        self._url = access.url
        self._headers = {"Authorization": f"Bearer {access.token}"} if access.token else {}
        certificate = str(access.certificate) if access.certificate else None
        self._pool = urllib3.PoolManager(maxsize=32, retries=False, ca_certs=certificate)
        self._closed = threading.Event()

    def close(self) -> None:
        """End the patience of those who wait for the server."""
        self._closed.set()
        self._pool.clear()

    def call(self, method: str, path: str, body: Object | None = None) -> Any:
        """The object that answers. Raises ApiError, or urllib3.exceptions.HTTPError when nobody answers."""
        headers = {**self._headers, "Content-Type": _MERGE if method == "PATCH" else "application/json"}
        data = None if body is None else json.dumps(body).encode()
        response = self._pool.request(method, self._url + path, body=data, headers=headers, timeout=30.0)
        return _checked(response.status, response.data)

    def insist(self, method: str, path: str, body: Object | None = None) -> Any:
        """The same, again and again while the server is away; None when the object is not there any more."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return self.call(method, path, body)
            except ApiError as error:
                if error.code in (404, 409):
                    return None
                if error.code < 500 or time.monotonic() > deadline:
                    raise
            except urllib3.exceptions.HTTPError:
                if time.monotonic() > deadline:
                    raise
            if self._closed.wait(0.2):
                return None

    def watch(self, path: str, version: str) -> Iterator[tuple[str, Object]]:
        """Yield changes: type and object. Raises as `call` does; ApiError 410 when the version is too old."""
        query = urlencode({"watch": "true", "resourceVersion": version, "timeoutSeconds": 300})
        timeout = urllib3.Timeout(connect=5.0, read=310.0)
        response = self._pool.request(
            "GET", f"{self._url}{path}?{query}", headers=self._headers, preload_content=False, timeout=timeout
        )
        try:
            if response.status != 200:
                _checked(response.status, response.read())
            for line in _lines(response):
                event = json.loads(line)
                if event["type"] == "ERROR":
                    status = event["object"]
                    raise ApiError(status["code"], status.get("reason", ""), status.get("message", ""))
                yield event["type"], event["object"]
        finally:
            response.close()


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    rest = b""
    for piece in response.read_chunked():
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


def _checked(status: int, data: bytes) -> Any:
    if status < 300:
        return json.loads(data)
    try:
        error = json.loads(data)
    except ValueError:
        error = {}
    raise ApiError(status, error.get("reason", ""), error.get("message", data.decode(errors="replace")))
