"""Patience with an API server: what is tried again, and what is not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from kubernetes.client import ApiClient, Configuration

from tests.runners.kubernetes.states import JOB
from translations_assets.config.deployment import Kubernetes
from translations_assets.runners.kubernetes import cluster as cluster_module
from translations_assets.runners.kubernetes.cluster import (
    Cluster,
    ClusterAway,
    ClusterError,
    Conflict,
    Expired,
    Missing,
)

FOUND = {
    "metadata": {"name": "a", "uid": "1"},
    "spec": {"template": {"spec": {"containers": [{"image": "worker:1"}]}}},
}


class Server(HTTPServer):
    """Answers each request with the next status; a status of 200 comes with a Job."""

    def __init__(self, *statuses: int) -> None:
        self.statuses, self.asked = list(statuses), 0
        self.retry_after = ""
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def cluster(self) -> Cluster:
        """A client of it."""
        settings = Configuration(host=f"http://127.0.0.1:{self.server_port}")
        settings.retries = False
        return Cluster(ApiClient(settings), "default")


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked += 1
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        body = json.dumps(FOUND if status == 200 else {"message": f"said {status}"}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status != 200 and self.server.retry_after:
            self.send_header("Retry-After", self.server.retry_after)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_GET

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "_FIRST_PAUSE", 0.01)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that the test gives its answers."""
    made = Server()
    thread = threading.Thread(target=made.serve_forever, args=(0.02,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def test_what_may_pass_is_tried_again(server: Server) -> None:
    server.statuses = [503, 429, 500, 401, 403]
    found = server.cluster.job("a")
    assert found
    assert (found.name, server.asked) == ("a", 6)


def test_a_server_that_says_when_to_come_again_is_left_alone_until_then(server: Server) -> None:
    server.statuses, server.retry_after = [429, 429], "7"
    pauses: list[float] = []
    server.cluster.create_job({}, wait=pauses.append)
    assert pauses == [7, 7]
    server.statuses, server.retry_after = [429], "Fri, 31 Jan 2031 12:00:00 GMT"
    server.cluster.create_job({}, wait=pauses.append)
    assert pauses[2] < 1


def test_patience_ends(server: Server) -> None:
    server.statuses = [503] * 1000
    with pytest.raises(ClusterAway, match="answers 503: said 503"):
        server.cluster.delete_job(JOB, patience=0.2)
    assert server.asked > 2


def test_nothing_is_tried_again_once_nobody_needs_it(server: Server) -> None:
    server.statuses = [503] * 1000
    cluster = server.cluster
    end = threading.Timer(0.2, cluster.closed.set)
    end.start()
    with pytest.raises(ClusterAway):  # the patience alone would last a quarter of an hour
        cluster.delete_job(JOB)
    end.join()
    assert server.asked < 1000


def test_rights_that_are_missing_are_told_after_a_short_while(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "_REFUSED_SECONDS", 0.1)
    server.statuses = [403] * 1000
    with pytest.raises(ClusterError, match="answers 403: said 403.*roles"):
        server.cluster.create_job({})


@pytest.mark.parametrize(("status", "error"), [(409, Conflict), (404, Missing), (422, ClusterError)])
def test_a_refusal_is_told_at_once(server: Server, status: int, error: type[Exception]) -> None:
    server.statuses = [status]
    with pytest.raises(error, match=f"said {status}"):
        server.cluster.create_job({})
    assert server.asked == 1


@pytest.mark.parametrize("status", [404, 409])
def test_a_job_that_is_gone_or_has_a_successor_is_deleted(server: Server, status: int) -> None:
    server.statuses = [status]
    server.cluster.delete_job(JOB)
    assert server.asked == 1


def test_a_job_that_is_not_there_is_none(server: Server) -> None:
    server.statuses = [404]
    assert server.cluster.job("a") is None


def test_a_watch_is_told_at_once_that_it_is_too_late(server: Server) -> None:
    server.statuses = [410]
    with pytest.raises(Expired):
        list(server.cluster.watch("jobs", "1"))


def test_nobody_who_waits_ends_the_patience(server: Server) -> None:
    server.statuses = [503] * 1000
    with pytest.raises(ClusterAway):
        server.cluster.create_job({}, wait=lambda seconds: True)
    assert server.asked == 1


def test_events_that_cannot_be_read_are_none(server: Server) -> None:
    server.statuses = [403]
    assert server.cluster.events("pod") == []


def test_an_unusable_kubeconfig_is_told(tmp_path: Path) -> None:
    kubernetes = Kubernetes.model_validate({"image": "worker", "worker-classes": {}})
    with pytest.raises(ClusterError, match="no usable kubeconfig"):
        Cluster.connect(kubernetes, tmp_path / "missing", threading.Event())
