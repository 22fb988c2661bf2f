"""A server that keeps one repository of models as the Hugging Face hub does, as far as its library asks.

Binary files are kept by LFS, all others in commits; commits are refused where the branch has moved on, and
model cards where the hub would refuse their metadata.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

import yaml

from tests.http_server import http_server

NAME, TOKEN = "someone/en-eo", "hf_0123456789"
LICENCES = ("cc-by-4.0", "mpl-2.0", "apache-2.0", "unknown", "other")

Answer = tuple[int, Any]


class HubServer:
    """Stand-in for the hub.

    url       where it listens
    files     name → contents, at the newest commit
    large     names of files that are kept by LFS
    commits   number of commits
    requests  method and path of each
    status    of all further answers to what writes, where it is not 200
    """

    def __init__(self) -> None:
        self.url = ""
        self.files: dict[str, bytes] = {".gitattributes": b"*.bin filter=lfs\n"}
        self.large: set[str] = set()
        self.sent: dict[str, bytes] = {}
        self.commits = 1
        self.requests: list[str] = []
        self.status = 200

    @property
    def head(self) -> str:
        """The newest commit."""
        return f"{self.commits:040x}"

    def answer(self, method: str, path: str, body: bytes, token: str) -> Answer:
        """Status and contents of the answer to a request."""
        self.requests.append(f"{method} {path}")
        if path == "/api/validate-yaml":
            return _judged(json.loads(body)["content"])
        if method == "PUT":
            self.sent[path.rpartition("/")[2]] = body
            return 200, {}
        if NAME not in path:
            return 404, {}
        if method == "GET":
            return 200, self._tree() if "/tree/" in path else {"id": NAME, "sha": self.head}
        if self.status != 200 or token != TOKEN:
            return (self.status if self.status != 200 else 403), {}
        return self._written(path.removeprefix(f"/api/models/{NAME}/").partition("/")[0], body)

    def _written(self, what: str, body: bytes) -> Answer:
        if what == "commit":
            return self._commit([json.loads(line) for line in body.splitlines()])
        if what == "preupload":
            return 200, {"files": [self._mode(one) for one in json.loads(body)["files"]]}
        found = [
            {**one, "actions": {"upload": {"href": f"{self.url}/lfs/{one['oid']}"}}}
            for one in json.loads(body)["objects"]
        ]
        return 200, {"transfer": "basic", "objects": found}

    def _mode(self, asked: Any) -> Any:
        is_large = b"\0" in base64.b64decode(asked["sample"]) or asked["path"].endswith((".bin", ".zst"))
        return {"path": asked["path"], "uploadMode": "lfs" if is_large else "regular", "shouldIgnore": False}

    def _commit(self, lines: list[Any]) -> Answer:
        if lines[0]["value"]["parentCommit"] != self.head:
            return 412, {"error": "A commit has happened since."}
        for line in lines[1:]:
            path, value = line["value"]["path"], line["value"]
            self.large.discard(path)
            if line["key"] == "deletedFile":
                del self.files[path]
            elif line["key"] == "lfsFile":
                self.files[path] = self.sent[value["oid"]]
                self.large.add(path)
            else:
                self.files[path] = base64.b64decode(value["content"])
        self.commits += 1
        return 200, {"commitUrl": f"{self.url}/{NAME}/commit/{self.head}", "commitOid": self.head}

    def _tree(self) -> Any:
        folders = {name.rpartition("/")[0] for name in self.files} - {""}
        return [
            *({"type": "directory", "path": folder, "oid": "0" * 40, "size": 0} for folder in folders),
            *(self._told(name, contents) for name, contents in self.files.items()),
        ]

    def _told(self, name: str, contents: bytes) -> Any:
        told: dict[str, Any] = {"type": "file", "path": name, "size": len(contents)}
        if name in self.large:
            digest = hashlib.sha256(contents).hexdigest()
            lfs = {"oid": digest, "size": len(contents), "pointerSize": 130}
            return {**told, "oid": "0" * 40, "lfs": lfs}
        return {**told, "oid": hashlib.sha1(b"blob %d\0" % len(contents) + contents).hexdigest()}


def _judged(card: str) -> Answer:
    """What the hub says of a card's metadata."""
    metadata = yaml.safe_load(card.split("---\n")[1])
    errors = []
    if metadata["license"] not in LICENCES:
        errors.append(f'"license" must be one of [{", ".join(LICENCES)}]')
    if not all(re.fullmatch("[a-z]{2,3}", code) for code in metadata["language"]):
        errors.append('"language" must only contain ISO 639 codes')
    said = {"errors": [{"message": error} for error in errors], "warnings": []}
    return (400 if errors else 200), said


@contextmanager
def hub_server() -> Iterator[HubServer]:
    """A hub with one repository that nothing was published to, for as long as the block."""
    server = HubServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            token = (self.headers["Authorization"] or "").removeprefix("Bearer ")
            path = urlsplit(self.path).path
            status, told = server.answer(self.command, path, body, token)
            contents = json.dumps(told).encode()
            self.send_response(status)
            if status == 404:
                self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(contents)))
            self.end_headers()
            self.wfile.write(contents)

        do_GET = do_POST = do_PUT = _answer

    with http_server(Handler) as server.url:
        yield server
