"""A server that keeps runs as that of Weights & Biases does, as far as wandb's own library asks for it."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import wandb

from tests.http_server import http_server
from tests.tracked import Curve

_OPERATION = re.compile(r"\b(?:query|mutation)\s+(\w+)")
_HISTORY = re.compile(r"/files/\w+/[\w-]+/(\w+)/file_stream")


class WandbServer:
    """Stand-in for the server, with everything that was sent.

    url       where it listens
    names     run → its name
    history   run → the lines of its history, in the order in which they came
    requests  how many there were
    """

    def __init__(self) -> None:
        self.url = ""
        self.names: dict[str, str] = {}
        self.history: dict[str, list[dict[str, Any]]] = {}
        self.requests = 0

    def curves(self) -> dict[str, Curve]:
        """Name of each run → its curve: update and numbers of each line."""
        return {
            self.names[run]: [
                (line["_step"], {name: value for name, value in line.items() if name[0] != "_"})
                for line in lines
            ]
            for run, lines in self.history.items()
        }

    def answer(self, path: str, body: Any) -> Any:
        """The answer to a request."""
        self.requests += 1
        if sent := _HISTORY.fullmatch(path):
            lines = body.get("files", {}).get("wandb-history.jsonl", {}).get("content", [])
            self.history[sent[1]] += map(json.loads, lines)
            return {}
        if path != "/graphql":  # a file
            return {}
        operation, given = _OPERATION.search(body["query"]), body["variables"]
        asked = getattr(self, f"_{operation[1]}", None) if operation else None
        return {"data": asked(given) if asked else {}}

    def _RunResumeStatus(self, given: Any) -> Any:
        return {"model": {**_project(), "bucket": self._kept(given["name"])}}

    def _kept(self, run: str) -> Any:
        if run not in self.names:
            return None
        lines = self.history[run]
        return {
            "id": run,
            "name": run,
            "displayName": self.names[run],
            "tags": [],
            "notes": "",
            "summaryMetrics": json.dumps(lines[-1] if lines else {}),
            "config": "{}",
            "wandbConfig": json.dumps({"t": 1}),  # without it the run has not begun
            "eventsTail": "[]",
            "logLineCount": 0,
            "eventsLineCount": 0,
            "historyLineCount": len(lines),
            "historyTail": json.dumps([json.dumps(line) for line in lines[-1:]]),
        }

    def _UpsertBucket(self, given: Any) -> Any:
        run = given["name"]
        self.names.setdefault(run, given["displayName"])
        self.history.setdefault(run, [])
        bucket = {"id": run, "name": run, "displayName": self.names[run], "config": "{}"}
        counts = {"historyLineCount": len(self.history[run]), "project": _project()}
        return {"upsertBucket": {"bucket": {**bucket, **counts}, "inserted": not self.history[run]}}

    def _CreateRunFiles(self, given: Any) -> Any:
        files = [{"name": name, "uploadUrl": f"{self.url}/files/{name}"} for name in given["files"]]
        return {"createRunFiles": {"runID": given["run"], "uploadHeaders": [], "files": files}}


def _project() -> dict[str, Any]:
    return {"id": "project", "name": "en-eo", "entity": {"id": "entity", "name": "someone"}}


@contextmanager
def without_a_key(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[None]:
    """wandb without a key, and without what it remembers of this user and of other tests."""
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(folder / "netrc"))
    monkeypatch.setenv("WANDB_CONFIG_DIR", str(folder / "wandb-config"))
    wandb.teardown()
    yield
    wandb.teardown()


@contextmanager
def wandb_server() -> Iterator[WandbServer]:
    """A server without any runs, for as long as the block."""
    server = WandbServer()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            if self.headers["Content-Encoding"] == "gzip":
                body = gzip.decompress(body)
            given = json.loads(body) if self.command == "POST" else None
            answer = json.dumps(server.answer(self.path, given)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_PUT = _answer

    with http_server(Handler) as server.url:
        yield server
