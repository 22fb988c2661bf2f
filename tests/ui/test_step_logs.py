"""The pages of steps' logs, as a web server gives them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.memory_store import MemoryStore
from tests.store.values import manifest
from tests.virtual_clock import VirtualClock
from translations_assets.common.errors import StoreUnreachable
from translations_assets.instance.server import log_path
from translations_assets.records.manifest import Usage
from translations_assets.records.run import RunRecord
from translations_assets.running.reading import is_read
from translations_assets.ui import pages, reports, step_logs

KEY = "ab" * 32
PAGE = log_path(KEY, 1)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """A step with two attempts; the first has a log of three parts."""
    store = MemoryStore()
    for part, text in enumerate([b"begin\n", b"<script>alert(1)</script>\n", "ĉio\n".encode()]):
        store.append_log(KEY, 1, 1, part, text)
    store.append_log(KEY, 1, 2, 0, b"again\n")
    monkeypatch.setattr(pages, "this_project", lambda: SimpleNamespace(store=store))
    return store


@pytest.fixture
def client(store: MemoryStore) -> TestClient:
    return TestClient(Starlette(routes=step_logs.ROUTES))


def test_a_log_is_shown_as_text_and_its_attempts_are_linked(client: TestClient) -> None:
    newest = client.get(PAGE)
    assert "<pre>again\n</pre>" in newest.text
    assert f'href="{PAGE}?attempt=1"' in newest.text
    first = client.get(log_path(KEY, 1, 1))
    assert "begin\n&lt;script&gt;alert(1)&lt;/script&gt;\nĉio\n" in first.text
    assert "<script" not in first.text
    assert first.headers["Content-Security-Policy"].startswith("default-src 'none'")
    whole = client.get(f"{log_path(KEY, 1, 1)}&whole")
    assert whole.text == "begin\n<script>alert(1)</script>\nĉio\n"
    assert (whole.headers["content-type"], whole.headers["x-content-type-options"]) == (
        "text/plain; charset=utf-8",
        "nosniff",
    )


def test_a_page_names_the_step_its_state_and_its_run(client: TestClient, store: MemoryStore) -> None:
    """Not by its key alone, nor by the label of another generation."""
    assert f"<h1>step {KEY[:12]}, which no recent run has begun, attempt 2: ended without a result" in (
        client.get(PAGE).text
    )
    store.write_run("run-0", RunRecord("run-0", "en-eo.tiny", begun={"train-vocab-en-eo": (KEY, 2)}))
    store.write_run("run-1", RunRecord("run-1", "en-eo.tiny", begun={"train-student-en-eo": (KEY, 1)}))
    page = client.get(PAGE).text
    assert "<h1>train-student-en-eo, attempt 2: ended without a result</h1>" in page
    assert '<a href="/runs/run-1">run run-1</a>' in page
    failed = {"train-student-en-eo": "it has <too> little text"}
    store.write_run(
        "run-1", RunRecord("run-1", "en-eo.tiny", begun={"train-student-en-eo": (KEY, 1)}, failed=failed)
    )
    page = client.get(PAGE).text
    assert "<h1>train-student-en-eo, attempt 2: failed</h1><p>it has &lt;too&gt; little text</p>" in page
    assert "<h1>train-student-en-eo, attempt 1: failed</h1><nav>" in client.get(log_path(KEY, 1, 1)).text
    with store.owners.lock(KEY, 1) as owner:
        assert owner
        assert "attempt 2: running</h1><nav>" in client.get(PAGE).text


def test_a_page_has_the_end_of_a_log_alone(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_logs, "PARTS", 2)
    assert "begin" not in client.get(log_path(KEY, 1, 1)).text
    monkeypatch.setattr(step_logs, "SHOWN", 4)
    assert "<pre>\ufffdio\n</pre>" in client.get(log_path(KEY, 1, 1)).text


def test_a_page_renews_itself_while_its_step_runs(client: TestClient, store: MemoryStore) -> None:
    assert 'http-equiv="refresh"' not in client.get(PAGE).text
    with store.owners.lock(KEY, 1) as owner:
        assert owner
        assert 'http-equiv="refresh"' in client.get(PAGE).text
        assert 'http-equiv="refresh"' not in client.get(log_path(KEY, 1, 1)).text


def test_a_step_counts_as_read_while_its_page_is_open(store: MemoryStore) -> None:
    clock = VirtualClock()
    pages = step_logs.OpenPages(clock)
    for seconds in (5, 5, 5):
        pages.note(store, KEY, 1)
        assert is_read(store, KEY, 1)
        clock.run(seconds)
    clock.run(20)
    assert not is_read(store, KEY, 1)
    pages.note(store, KEY, 1)
    assert is_read(store, KEY, 1)


@pytest.mark.parametrize(
    "path",
    [
        log_path("cd" * 32, 1),
        log_path(KEY, 2),
        log_path(KEY, 1, 3),
        f"{PAGE}?attempt=..",
        f"{PAGE}?attempt=",
        f"/step-logs/{KEY}/1.1",
        f"/step-logs/{KEY}/1/1",
        "/step-logs/../1",
        "/step-logs/%2e%2e/1",
        "/step-logs/..%2f..%2fconfigs/1",
        f"/step-logs/{KEY.upper()}/1",
    ],
)
def test_nothing_else_is_reached(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    if answer.headers["content-type"].startswith("text/html"):  # else the path has left our pages
        assert '<a href="/runs">all runs</a>' in answer.text


@pytest.mark.parametrize(
    "path",
    ["/reports", "/reports/x", "/reports/x/y", f"/reports/{KEY}/1", f"/reports/{KEY}/1/x", "/step-logs/x"],
)
def test_no_report_is_no_page_of_dagsters(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Dagster's routes take every other path, and answer 200."""
    monkeypatch.setattr(pages, "this_project", lambda: SimpleNamespace(store=store))
    dagsters = Route("/{path:path}", lambda _: PlainTextResponse("Dagster's"))
    answer = TestClient(Starlette(routes=[*step_logs.ROUTES, *reports.ROUTES, dagsters])).get(path)
    assert answer.status_code == 404
    assert "There is no such page." in answer.text or "The store has no such report." in answer.text
    assert "aterialize" in answer.text or "materializations" in answer.text
    assert '<a href="/assets">assets</a>' in answer.text


def test_a_store_that_is_away_is_told(
    client: TestClient, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(key: str, generation: int) -> list[int]:
        raise StoreUnreachable("The bucket cannot be reached.")

    monkeypatch.setattr(store, "attempts", away)
    answer = client.get(PAGE)
    assert answer.status_code == 503
    assert "The bucket cannot be reached. Load the page again later." in answer.text


def test_it_cannot_be_written(client: TestClient) -> None:
    assert {client.request(method, PAGE).status_code for method in ("POST", "PUT", "DELETE")} == {405}


def test_a_page_tells_how_long_its_attempt_took(client: TestClient, store: MemoryStore) -> None:
    """Not how long the step was with its worker, which also places files and commits."""
    made = replace(manifest({}, KEY), attempt=2, started=100.0, ended=900.0, usage=Usage(seconds=612.4))
    store.commit(made)
    assert f"{made.label}, attempt 2: done after 612 s" in client.get(PAGE).text
    assert f"{made.label}, attempt 1: failed" in client.get(log_path(KEY, 1, 1)).text
