"""Patience with an API server: what is tried again, and what is not."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from kubernetes.client import Configuration

from tests.runners.kubernetes.states import JOB
from translations_assets.config.deployment import Kubernetes
from translations_assets.runners.kubernetes import cluster as cluster_module
from translations_assets.runners.kubernetes.access import Access
from translations_assets.runners.kubernetes.cluster import (
    Ahead,
    Cluster,
    ClusterAway,
    ClusterError,
    Conflict,
    Expired,
    Missing,
    NotAdmitted,
    Trouble,
    Unauthorized,
)
from translations_assets.runners.kubernetes.state import JobState
from translations_assets.running.tasks import Work, finish

FOUND = {
    "metadata": {"name": "a", "uid": "1"},
    "spec": {"template": {"spec": {"containers": [{"image": "worker:1"}]}}},
}


class Server(HTTPServer):
    """Answers each request with the next status; a status of 200 comes with a Job."""

    def __init__(self, *statuses: int) -> None:
        self.statuses, self.asked = list(statuses), 0
        self.retry_after = self.words = ""
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def cluster(self) -> Cluster:
        """A client of it."""
        return Cluster(Access(lambda: Configuration(host=f"http://127.0.0.1:{self.server_port}")), "default")


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked += 1
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        body = json.dumps(
            FOUND if status == 200 else {"message": self.server.words or f"said {status}"}
        ).encode()
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


def create(server: Server, wait: Callable[[float], object] = time.sleep, needed: bool = True) -> JobState:
    """Create a Job; `wait` is called where that waits."""
    return finish(server.cluster.create_job({}, lambda: not needed), wait)


def find(cluster: Cluster) -> JobState | None:
    """Ask for a Job."""
    return finish(cluster.job("a", lambda: False), time.sleep)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between the tries to create a Job, which take no time."""
    made: list[float] = []

    def pause(seconds: float, _ends: object) -> Work[None]:
        made.append(seconds)
        yield seconds

    monkeypatch.setattr(cluster_module, "pause", pause)
    return made


def test_what_may_pass_is_tried_again(server: Server) -> None:
    server.statuses = [503, 429, 500, 401, 403]
    found = find(server.cluster)
    assert found
    assert (found.name, server.asked) == ("a", 6)


def test_a_server_that_says_when_to_come_again_is_left_alone_until_then(
    server: Server, pauses: list[float]
) -> None:
    server.statuses, server.retry_after = [429, 429], "7"
    create(server, lambda _: None)
    assert pauses == [7, 7]
    server.statuses, server.retry_after = [429], "Fri, 31 Jan 2031 12:00:00 GMT"
    create(server, lambda _: None)
    assert pauses[2] == 300  # the longest pause


def test_a_server_that_asks_for_hours_is_asked_again_earlier(server: Server, pauses: list[float]) -> None:
    server.statuses, server.retry_after = [503, 503], "86400"
    create(server, lambda _: None)
    assert pauses == [300, 300]


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
    monkeypatch.setattr(cluster_module, "REFUSED_SECONDS", 0.1)
    server.statuses = [403] * 1000
    with pytest.raises(ClusterError, match="answers 403: said 403.*roles"):
        create(server)


@pytest.mark.parametrize(("status", "error"), [(409, Conflict), (404, Missing), (422, ClusterError)])
def test_a_refusal_is_told_at_once(server: Server, status: int, error: type[Exception]) -> None:
    server.statuses = [status]
    with pytest.raises(error, match=f"said {status}"):
        create(server)
    assert server.asked == 1


@pytest.mark.parametrize("status", [404, 409])
def test_a_job_that_is_gone_or_has_a_successor_is_deleted(server: Server, status: int) -> None:
    server.statuses = [status]
    server.cluster.delete_job(JOB)
    assert server.asked == 1


def test_a_job_that_is_not_there_is_none(server: Server) -> None:
    server.statuses = [404]
    assert find(server.cluster) is None


QUOTA = "exceeded quota: steps, requested: count/jobs.batch=1, used: count/jobs.batch=9, limited: 9"
POLICY = "ValidatingAdmissionPolicy 'labels' with binding 'all' denied request: no team"
WEBHOOK = 'admission webhook "policy.example" denied the request: no team'


@pytest.mark.parametrize(
    ("status", "words", "by_quota"),
    [
        (403, QUOTA, True),
        (403, POLICY, False),
        (422, POLICY, False),
        (403, WEBHOOK, False),
        (400, WEBHOOK, False),
    ],
)
def test_a_job_that_is_not_let_in_is_told_at_once_in_the_servers_words(
    server: Server, status: int, words: str, by_quota: bool
) -> None:
    server.statuses, server.words = [status], words
    if words != WEBHOOK:
        server.words = f'jobs.batch "a-job" is forbidden: {words}'
    with pytest.raises(NotAdmitted) as caught:
        create(server)
    assert (caught.value.text, caught.value.by_quota, server.asked) == (words, by_quota, 1)
    assert "roles" not in str(caught.value)


def test_a_webhook_that_does_not_answer_is_asked_again(server: Server) -> None:
    server.statuses = [500]
    server.words = (
        'Internal error occurred: failed calling webhook "policy.example": context deadline exceeded'
    )
    create(server)
    assert server.asked == 2


def test_a_version_that_the_server_does_not_know_yet_is_told(server: Server) -> None:
    server.statuses, server.words = [504], "Timeout: Too large resource version: 90, current: 80"
    with pytest.raises(Ahead):
        list(server.cluster.watch("jobs", "90"))
    server.words = ""
    server.statuses = [504]
    with pytest.raises(ClusterAway) as caught:
        list(server.cluster.watch("jobs", "90"))
    assert not isinstance(caught.value, Ahead)


def test_a_watch_is_told_at_once_that_it_is_too_late(server: Server) -> None:
    server.statuses = [410]
    with pytest.raises(Expired):
        list(server.cluster.watch("jobs", "1"))


def test_nobody_who_waits_ends_the_patience(server: Server) -> None:
    server.statuses = [503] * 1000
    with pytest.raises(ClusterAway):
        create(server, needed=False)
    assert server.asked == 1


def test_events_that_cannot_be_read_are_none(server: Server) -> None:
    server.statuses = [403]
    assert server.cluster.events("pod") == []


def test_an_unusable_kubeconfig_is_told(tmp_path: Path) -> None:
    kubernetes = Kubernetes.model_validate({"image": "worker", "worker-classes": {}})
    with pytest.raises(ClusterError, match="no usable kubeconfig"):
        Cluster.connect(kubernetes, tmp_path / "missing", threading.Event(), Trouble())


def settings(token: str, host: str = "https://cluster.example") -> Configuration:
    """A client's settings with a token."""
    made = Configuration(host=host)
    made.api_key["BearerToken"] = f"Bearer {token}"
    return made


def test_of_many_threads_that_are_refused_at_once_one_reads_the_token_again() -> None:
    tokens = iter(["old", "new", "never"])
    access = Access(lambda: settings(next(tokens)))
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(access.renew, ["Bearer old"] * 16)) == [True] * 16
    assert access.token == "Bearer new"


def test_a_token_is_shown_to_no_other_server() -> None:
    hosts = iter(["https://cluster.example", "https://other.example"])
    access = Access(lambda: settings(f"of {(host := next(hosts))}", host))
    assert not access.renew("Bearer of https://cluster.example")
    assert access.token == "Bearer of https://cluster.example"


def test_a_file_that_is_half_written_is_read_again_later() -> None:
    states: list[Configuration | Exception] = [settings("old"), ValueError("half a file"), settings("new")]

    def load() -> Configuration:
        state = states.pop(0)
        if isinstance(state, Exception):
            raise state
        return state

    access = Access(load)
    assert [access.renew("Bearer old"), access.renew("Bearer old")] == [False, True]


@pytest.mark.parametrize(("before", "found"), [([], False), ([200], True)])
def test_a_server_that_knew_who_asks_is_given_time_for_a_new_token(
    server: Server, monkeypatch: pytest.MonkeyPatch, before: list[int], found: bool
) -> None:
    monkeypatch.setattr(cluster_module, "REFUSED_SECONDS", 0.2)
    cluster = server.cluster
    for status in before:
        server.statuses = [status]
        assert find(cluster)
    server.statuses = [401] * 6  # for 0.01 + 0.02 + … 0.32 s
    if found:
        assert find(cluster)
    else:
        with pytest.raises(Unauthorized, match="answers 401: said 401. The token was read again"):
            find(cluster)


def test_what_keeps_the_server_from_answering_is_known_until_it_does(server: Server) -> None:
    cluster, told = server.cluster, list[str]()
    server.statuses = [503, 404]

    def wait(seconds: float) -> None:
        told.append(cluster.trouble.text)
        time.sleep(seconds)

    with pytest.raises(Missing):
        finish(cluster.create_job({}, lambda: False), wait)
    assert (told, cluster.trouble.text) == (["The cluster answers 503: said 503"], "")
