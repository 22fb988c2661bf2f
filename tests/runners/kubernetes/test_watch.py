"""The watch on Jobs and pods: told of changes, resumed, listed anew when it has fallen behind."""

from __future__ import annotations

import json
import queue
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.runners.scripts import eventually
from translations_assets.runners.batch.member import store_label
from translations_assets.runners.kubernetes import connection
from translations_assets.runners.kubernetes.cluster import (
    Ahead,
    ClusterAway,
    ClusterError,
    Expired,
    Kind,
)
from translations_assets.runners.kubernetes.connection import Watch
from translations_assets.runners.kubernetes.state import Annotation, Label

Event = tuple[str, dict[str, Any]]


STORE, STEP = "gs://bucket/store", ("ab", 1)


def job(name: str, version: int, *steps: tuple[str, int], **status: Any) -> dict[str, Any]:
    members = [[*step, 1, "a-step"] for step in steps]
    return {
        "metadata": {
            "name": name,
            "uid": name,
            "resourceVersion": str(version),
            "labels": {Label.STORE: store_label(STORE)},
            "annotations": {Annotation.MEMBERS: json.dumps(members)},
        },
        "spec": {"template": {"spec": {"containers": [{"image": "worker:1"}]}}},
        "status": status,
    }


class Server:
    """An API server whose Jobs the test lists, and whose changes the test sends; it has no pods."""

    def __init__(self, *jobs: dict[str, Any]) -> None:
        self.jobs, self.version = list(jobs), "10"
        self.closed = threading.Event()
        self.changes: queue.Queue[Event | ClusterError] = queue.Queue()
        self.calls: Counter[str] = Counter()
        self.watched: list[str] = []
        self.ended = threading.Event()

    def all(self, kind: Kind, patience: float = 0) -> tuple[list[dict[str, Any]], str]:
        self.calls[kind] += 1
        return (self.jobs if kind == "jobs" else []), self.version

    def watch(self, kind: Kind, version: str) -> Iterator[Event]:
        if kind == "pods":
            self.ended.wait(30)
            return
        self.watched.append(version)
        while not self.ended.is_set():
            try:
                change = self.changes.get(timeout=0.05)
            except queue.Empty:
                continue
            if isinstance(change, ClusterError):
                raise change
            yield change


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server with one Job."""
    monkeypatch.setattr(connection, "_FIRST_PAUSE", 0.01)
    made = Server(job("a", 1))
    yield made
    made.ended.set()


@pytest.fixture
def watch(server: Server) -> Iterator[Watch]:
    """A watch on it."""
    made = Watch(server)  # type: ignore[arg-type]
    made.start()
    yield made
    server.closed.set()


def names(watch: Watch) -> list[str]:
    return sorted(state.name for state in watch.jobs())


def test_changes_are_taken_over_and_told(server: Server, watch: Watch) -> None:
    told = threading.Event()
    watch.subscribe("b", told.set)
    assert names(watch) == ["a"]
    server.changes.put(("ADDED", job("b", 11)))
    assert told.wait(60)
    assert names(watch) == ["a", "b"]
    done = {"type": "Complete", "status": "True"}
    server.changes.put(("MODIFIED", job("b", 12, conditions=[done])))
    assert eventually(lambda: (found := watch.job("b")) is not None and found.ended == "Complete")
    server.changes.put(("DELETED", job("b", 13)))
    assert eventually(lambda: watch.job("b") is None)
    watch.unsubscribe("b", told.set)


def test_the_jobs_of_a_step_are_found(server: Server, watch: Watch) -> None:
    other = ("cd", 2)
    server.changes.put(("ADDED", job("b", 11, STEP, other)))
    server.changes.put(("ADDED", job("c", 12, STEP)))
    assert eventually(lambda: watch.job("c") is not None)
    assert [found.name for found in watch.jobs_of(STORE, other)] == ["b"]
    assert sorted(found.name for found in watch.jobs_of(STORE, STEP)) == ["b", "c"]
    assert watch.jobs_of("gs://another", STEP) == watch.jobs_of(STORE, ("ab", 2)) == []
    done = {"type": "Complete", "status": "True"}
    server.changes.put(("MODIFIED", job("b", 13, STEP, other, conditions=[done])))
    assert eventually(lambda: [found.ended for found in watch.jobs_of(STORE, other)] == ["Complete"])
    server.changes.put(("DELETED", job("b", 14, STEP, other)))
    server.jobs, server.version = [job("d", 40, other)], "40"
    assert eventually(lambda: [found.name for found in watch.jobs_of(STORE, STEP)] == ["c"])
    server.changes.put(Expired("too old"))
    assert eventually(lambda: [found.name for found in watch.jobs_of(STORE, other)] == ["d"])
    assert watch.jobs_of(STORE, STEP) == []


def test_an_interrupted_watch_goes_on_where_it_was(server: Server, watch: Watch) -> None:
    server.changes.put(("BOOKMARK", job("", 20)))
    server.changes.put(ClusterAway("connection reset"))
    server.changes.put(("ADDED", job("b", 21)))
    assert eventually(lambda: watch.job("b") is not None)
    assert server.watched == ["10", "20"]
    assert server.calls["jobs"] == 1


def test_a_server_that_has_too_much_to_do_is_left_alone_as_long_as_it_asks(
    server: Server, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(server.closed, "wait", pauses.append)
    server.changes.put(ClusterAway("too many requests", 7))
    server.changes.put(("ADDED", job("b", 21)))
    assert eventually(lambda: watch.job("b") is not None)
    assert pauses == [7]


@pytest.mark.parametrize(
    "error", [Expired("too old"), ClusterError("never heard of it"), Ahead("Too large resource version")]
)
def test_a_watch_that_fell_behind_lists_anew_and_tells_what_has_gone(
    server: Server, watch: Watch, error: ClusterError
) -> None:
    told = threading.Event()
    watch.subscribe("a", told.set)
    server.jobs, server.version = [job("b", 40)], "40"
    server.changes.put(error)
    assert told.wait(60)
    assert eventually(lambda: names(watch) == ["b"])
    assert eventually(lambda: server.watched == ["10", "40"])


def test_an_object_that_cannot_be_read_does_not_end_the_watch(server: Server, watch: Watch) -> None:
    for _ in range(3):
        server.changes.put(("ADDED", {"metadata": {"resourceVersion": "11"}}))
    server.changes.put(("ADDED", job("b", 12)))
    assert eventually(lambda: names(watch) == ["a", "b"])


def test_silence_is_counted_from_the_last_word(server: Server, watch: Watch) -> None:
    assert watch.silent < 5
    watch._jobs.heard -= 100
    assert watch.silent > 90
    server.changes.put(("ADDED", job("b", 11)))
    assert eventually(lambda: watch.silent < 50)
