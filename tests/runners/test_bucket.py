"""The local runner over a store in a bucket: real workers, a server that speaks as the service does."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import (
    COPY,
    KEY,
    alive,
    attempt,
    eventually,
    job,
    output,
    processes_of,
    run,
    written,
)
from tests.store.gcs_server import BUCKET, GcsServer, serve
from translations_assets.runners.local import LocalRunner
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.store.open import open_store

# Tells its pid, then waits for the file `go`; saves a checkpoint set when it is told to end.
SCRIPT = """
import os, pathlib, signal, sys, time
here = pathlib.Path({here!r})
def save(*_):
    saved = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"])
    (saved / ".new").mkdir()
    (saved / ".new" / "model.npz").write_text("a model")
    (saved / ".new").rename(saved / "000100")
    sys.exit(75)
signal.signal(signal.SIGTERM, save)
with (here / "started").open("a") as file:
    print(os.getpid(), os.getppid(), file=file, flush=True)
while not (here / "go").exists():
    time.sleep(0.05)
pathlib.Path("out").mkdir()
pathlib.Path("out/copy.txt").write_text("done")
"""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[GcsServer]:
    """A server with an empty bucket, for this process and its workers."""
    monkeypatch.delenv("TRANSLATIONS_CACHE", raising=False)
    with serve(BUCKET) as server:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", server.url)
        yield server


@pytest.fixture
def store(server: GcsServer) -> Store:
    """An empty store in the bucket."""
    return open_store(f"gs://{BUCKET}/store")


def left(server: GcsServer) -> list[str]:
    """Leftovers of processes beside their results."""
    return [
        name for name in server.names() if name.split("/")[1] in ("leases", "waiting", "sessions", "clock")
    ]


def test_a_script_runs_on_its_inputs_and_its_outputs_are_kept(
    runner: LocalRunner, store: Store, server: GcsServer, tmp_path: Path
) -> None:
    text = store.add_bytes("ĉu vi parolas Esperanton?\n".encode())
    command = ("--text", "in/text/mono.eo", "--output", "out")
    outcome = run(runner, store, job(store, COPY, command=command, inputs={"text/mono.eo": text}))
    assert output(store, outcome) == "ĉu vi parolas Esperanton?\n"
    assert store.latest(KEY) == outcome.manifest
    assert b"python -m pipeline.script" in b"".join(store.read_log(KEY, 1, 1))
    assert list((tmp_path / "state" / "work").iterdir()) == []
    assert left(server) == []


def test_steps_in_a_row_download_an_input_once(
    runner: LocalRunner, store: Store, server: GcsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSLATIONS_CACHE", str(tmp_path / "cache"))
    text = store.add_bytes(b"a text")
    command = ("--text", "in/text/mono.en", "--output", "out")
    for number in range(3):
        work = job(store, COPY, key=f"{number:064x}", command=command, inputs={"text/mono.en": text})
        assert run(runner, store, work).kind == "done"
    reads = [request for request in server.requests if text.digest in request and "alt=media" in request]
    assert len(reads) == 1


def test_an_input_that_a_script_changes_is_noticed_and_not_given_to_others(
    runner: LocalRunner, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The input is a hard link to the file in the cache."""
    monkeypatch.setenv("TRANSLATIONS_CACHE", str(tmp_path / "cache"))
    text = store.add_bytes(b"a text")
    changes = written("path = pathlib.Path('in/text'); path.chmod(0o644); path.write_text('a TEXT')")
    outcome = run(runner, store, job(store, changes, inputs={"text": text}))
    assert (outcome.kind, "changed its input in/text" in outcome.message) == ("failed", True)
    command = ("--text", "in/text", "--output", "out")
    outcome = run(runner, store, job(store, COPY, key="cd" * 32, command=command, inputs={"text": text}))
    assert output(store, outcome) == "a text"


class Step:
    """A step that waits for its file `go`, and the runs that want it."""

    def __init__(self, root: Path, store: Store, name: str, number: int) -> None:
        self.here, self.store = root / name, store
        self.here.mkdir()
        self.job: Job = job(store, SCRIPT.format(here=str(self.here)), key=f"{number:064x}", resumable=True)

    def run(self, runner: LocalRunner, number: int = 1) -> Outcome:
        """Make an attempt."""
        work = Job(**{**vars(self.job), "attempt": number})
        return attempt(runner, work, self.store, threading.Event(), lambda event: None)

    def started(self) -> list[tuple[int, int]]:
        """(script, worker) of each time that it was started."""
        path = self.here / "started"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(script), int(worker)) for script, worker in map(str.split, lines)]


@contextmanager
def ended_at_last(*steps: Step) -> Iterator[None]:
    """Let the steps end when the test does, else whoever runs them would be waited for."""
    try:
        yield
    finally:
        for step in steps:
            (step.here / "go").touch()


@pytest.mark.slow
def test_a_killed_and_a_paused_workers_steps_are_taken_over(
    runner: LocalRunner, store: Store, server: GcsServer, tmp_path: Path
) -> None:
    """Both take the 45 s in which the dead might live; the paused one ends its script and stores nothing."""
    killed, paused = (Step(tmp_path, store, name, number) for number, name in enumerate(("killed", "paused")))
    other = LocalRunner(tmp_path / "other", cpus=2, gpus=[])
    with ThreadPoolExecutor(4) as pool, ended_at_last(killed, paused):
        first = pool.submit(killed.run, runner)
        second = pool.submit(paused.run, runner)
        assert eventually(lambda: len(killed.started()) == len(paused.started()) == 1)
        ((dead_script, dead),), ((script, worker),) = killed.started(), paused.started()
        os.kill(dead, signal.SIGKILL)
        os.kill(worker, signal.SIGSTOP)
        began = time.monotonic()
        try:
            outcome = first.result(timeout=PATIENCE)
            assert (outcome.kind, outcome.message) == ("temporary", "the worker was killed (signal 9)")
            again, elsewhere = pool.submit(killed.run, runner, 2), pool.submit(paused.run, other)
            assert eventually(lambda: len(killed.started()) == len(paused.started()) == 2)
            assert time.monotonic() - began > 30, "not before the owner can have given up"
        finally:
            os.kill(worker, signal.SIGCONT)
        outcome = second.result(timeout=PATIENCE)
        assert outcome.kind == "temporary"
        assert "the ownership of the step was lost" in outcome.message
        assert not alive(script)
        assert [name for name in server.names() if "/checkpoints/" in name] == []
        (killed.here / "go").touch()
        (paused.here / "go").touch()
        assert again.result(timeout=PATIENCE).kind == "done"
        assert output(store, elsewhere.result(timeout=PATIENCE)) == "done"
    assert not alive(dead_script), "it was swept with its work folder"
    assert eventually(lambda: processes_of(tmp_path) == [])
    assert left(server) == []
