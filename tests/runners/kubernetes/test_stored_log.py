"""A pod's log as it comes into the store: every line once, and what the worker says between them."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace

import pytest

from tests.memory_store import MemoryStore
from translations_assets.runners.batch import stored_log
from translations_assets.runners.batch.member import Member
from translations_assets.runners.batch.stored_log import StoredLog
from translations_assets.runners.wire import Reply, pack_reply
from translations_assets.running.events import Progress, Started
from translations_assets.running.job import Outcome

MEMBER = Member("ab" * 32, 1, 1, "copy-en")
STARTED, FAILED = Started(7, 2), Outcome("failed", None, "exit code 1")


class Worker:
    """A worker that stores parts of a log, one after the other."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.parts = 0

    def store_part(self, text: bytes, *replies: Reply, pod: str = "pod") -> None:
        said = b"".join((pod.encode(), b"\n", *map(pack_reply, replies))) if replies else b""
        self.store.append_log(MEMBER.key, 1, 1, self.parts, text, said)
        self.parts += 1


@pytest.fixture
def worker() -> Worker:
    """It has stored nothing yet."""
    return Worker()


def test_lines_and_events_come_once_and_lines_whole(worker: Worker) -> None:
    log = StoredLog(worker.store, MEMBER, "pod")
    assert list(log.read(ended=False)) == []
    worker.store_part(b"one\ntw", STARTED)
    assert list(log.read(ended=False)) == [STARTED, b"one"]
    worker.store_part(b"o\n\nth")
    worker.store_part(b"ree", Progress({"update": 1}), FAILED)
    assert list(log.read(ended=False)) == [b"two", b"", Progress({"update": 1})]
    assert list(log.read(ended=True)) == [b"three"]
    assert list(log.read(ended=True)) == []
    assert (log.outcome, log.tail) == (FAILED, "one\ntwo\n\nthree")
    assert b"".join(worker.store.read_log(MEMBER.key, 1, 1)) == b"one\ntwo\n\nthree"


@pytest.mark.parametrize("replies", [(), (STARTED, FAILED)], ids=["of an older version", "of this one"])
def test_what_a_pod_before_has_left_of_the_same_attempt_is_passed_over(
    worker: Worker, replies: Iterable[Reply]
) -> None:
    worker.store_part(b"of before\n", *replies, pod="before")
    log = StoredLog(worker.store, MEMBER, "pod")
    assert list(log.read(ended=False)) == []
    assert log.outcome is None
    worker.store_part(b"mine\n", STARTED)
    worker.store_part(b"more\n")
    assert list(log.read(ended=False)) == [STARTED, b"mine", b"more"]


def test_what_another_version_says_is_left_out(worker: Worker) -> None:
    worker.store.append_log(MEMBER.key, 1, 1, 0, b"one\n", b'pod\n{"job": 0, "Gossip": {}}\n')
    log = StoredLog(worker.store, MEMBER, "pod")
    assert list(log.read(ended=False)) == [b"one"]


def test_a_very_long_line_comes_in_pieces(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_log, "_LONGEST", 50)
    for text in (b"x" * 60, b"x" * 60, b"x\ny\n"):
        worker.store_part(text, STARTED)
    lines = [new for new in StoredLog(worker.store, MEMBER, "pod").read(ended=True) if new != STARTED]
    assert lines == [b"x" * 60, b"x" * 60, b"x", b"y"]


def test_a_log_is_looked_at_as_often_as_its_worker_stores_it(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(stored_log, "time", SimpleNamespace(monotonic=lambda: now))
    log = StoredLog(worker.store, MEMBER, "pod")
    assert log.pause < 2
    worker.store_part(b"one\n", STARTED)
    assert list(log.read(ended=False))
    pauses = []
    for now in (1.0, 1_000.0, 100_000.0):  # noqa: B007
        pauses.append(log.pause)
    assert pauses == [4, 20, 120]


def test_a_long_log_is_read_bit_by_bit(worker: Worker) -> None:
    for number in range(70):
        worker.store_part(b"line %d\n" % number, STARTED)
    log, lines, looks = StoredLog(worker.store, MEMBER, "pod"), list[object](), 0
    while log.is_behind or not looks:
        lines += [new for new in log.read(ended=True) if new != STARTED]
        looks += 1
        assert (log.pause == 0) == log.is_behind
    assert lines == [b"line %d" % number for number in range(70)]
    assert looks == 3
