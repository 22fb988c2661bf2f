"""Requests and replies come out of a line as they went in."""

from __future__ import annotations

import pytest

from tests.memory_store import MemoryStore
from tests.runners.scripts import COPY, job
from tests.store.values import manifest
from translations_assets.records.manifest import Blob
from translations_assets.runners.wire import (
    Busy,
    Request,
    pack_reply,
    unpack_reply,
)
from translations_assets.running.events import JobEvent, Progress, Started, Waiting
from translations_assets.running.job import Outcome


def test_a_request_is_one_line() -> None:
    inputs = {"text/ŝ.eo": Blob("12" * 32, 3)}
    work = job(MemoryStore(), COPY, inputs=inputs, programs={"clang": "one\ntwo"}, resumable=True)
    request = Request(work, "file:///store", "/store/work", 2, ("0", "3"), 512, 2_000, files=("/a", "/b"))
    line = request.to_bytes()
    assert line.count(b"\n") == 1
    assert Request.from_bytes(line) == request


@pytest.mark.parametrize(
    "reply",
    [
        Busy(),
        Waiting("waits for run a1"),
        Started(7, 2, ("0", "3")),
        Progress({"update": 1, "cost": 3.5}),
        Outcome("failed", None, "exit code 1", "one\ntwo"),
        Outcome("done", manifest({"corpus.en.zst": Blob("12" * 32, 3)})),
    ],
)
def test_a_reply_is_one_line(reply: JobEvent | Outcome | Busy) -> None:
    line = pack_reply(reply, 3)
    assert line.count(b"\n") == 1
    assert unpack_reply(line) == (3, reply)


@pytest.mark.parametrize(
    "line",
    [
        b'{"job": 0, "Gossip": {}}\n',
        b'{"Busy": {}}\n',
        b'{"job": 0, "Waiting": {}}\n',
        b'{"job": 0, "Outc',
        b"[]",
    ],
)
def test_an_unknown_reply_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match="unknown reply"):
        unpack_reply(line)
