"""The engine in trouble: a store, a runner or a listener that fails, damage, cancelling."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.memory_store import MemoryStore
from tests.running.conftest import SETTINGS, Bench, demo_graph, demo_stages, graph_of, one_stage
from translations_assets.common.errors import (
    RunCancelled,
    StepFailed,
    StoreError,
    StoreUnreachable,
    TemporaryError,
    TranslationsError,
)
from translations_assets.graph.stage import Stage, stage, step
from translations_assets.graph.step import Output
from translations_assets.keys.key import KeyMaker
from translations_assets.records.manifest import Manifest
from translations_assets.records.run import RunOptions
from translations_assets.running import attempts as attempts_module
from translations_assets.running import engine as engine_module
from translations_assets.running import tasks
from translations_assets.running.engine import Engine
from translations_assets.running.events import StepEvent
from translations_assets.running.job import Outcome
from translations_assets.running.plan import make_plan
from translations_assets.running.resolve import DAMAGED
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work
from translations_assets.store.local import LocalStore

TEMPORARY = Outcome("temporary", message="the worker was killed")


# A store or a listener in trouble


class BrokenStore(MemoryStore):
    """A store with a method that fails: for one step when it is named, else always."""

    def __init__(self, method: str, label: str = "") -> None:
        super().__init__()
        self._method, self._label = method, label

    def latest(self, key: str) -> Manifest | None:
        self._maybe_fail("latest", key)
        return super().latest(key)

    def attempts(self, key: str, generation: int) -> list[int]:
        self._maybe_fail("attempts", key)
        return super().attempts(key, generation)

    def write_run(self, run: str, value: Any) -> None:
        self._maybe_fail("write_run", "")
        super().write_run(run, value)

    def _maybe_fail(self, method: str, key: str) -> None:
        if method == self._method and key == self._label:
            raise StoreError("The bucket cannot be reached. Check the network.")


def key_of(bench: Bench, label: str) -> str:
    """The key of a step without inputs."""
    session = bench.session()
    return session.keys.parts(session.graph.step(label), {}).digest


@pytest.mark.parametrize("method", ["latest", "attempts"])
def test_a_store_error_is_the_failure_of_one_step(bench: Bench, method: str) -> None:
    bench.store = BrokenStore(method, key_of(bench, "write-a"))
    with pytest.raises(StepFailed) as caught:
        bench.make()
    assert "write-a" in str(caught.value)
    assert "The bucket cannot be reached. Check the network." in str(caught.value)
    assert "write-b" not in str(caught.value)
    assert bench.runner.ran == ["write-b"]
    assert bench.told("write-a") == ["failed"]


def test_nothing_starts_when_what_is_used_cannot_be_written_down(bench: Bench) -> None:
    bench.store = BrokenStore("write_run")
    with pytest.raises(StepFailed, match="write-a was not started: The bucket cannot be reached"):
        bench.make()
    assert bench.runner.ran == []


def test_a_missing_file_is_the_failure_of_the_step_that_reads_it(bench: Bench) -> None:
    (bench.root / SETTINGS.path).unlink()
    with pytest.raises(StepFailed, match=r"join cannot be looked up: .*settings\.yml, which cannot be read"):
        bench.make()
    assert sorted(bench.runner.ran) == ["write-a", "write-b"]


@pytest.mark.parametrize("error", [StoreError, TemporaryError, StoreUnreachable])
def test_what_may_pass_for_a_runner_is_worth_another_attempt(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: type[TranslationsError]
) -> None:
    monkeypatch.setattr(attempts_module, "RETRY_SECONDS", 0.001)
    monkeypatch.setattr(tasks, "FIRST_PAUSE", 0.001)
    run, errors = bench.runner.run, [error("It did not answer.")]

    def failing(submission: Submission) -> Work[Outcome]:
        if submission.job.label == "write-a" and errors:
            raise errors.pop()
        return run(submission)

    monkeypatch.setattr(bench.runner, "run", failing)
    attempts = {result.step.label: result.manifest.attempt for result in bench.run(bench.session())}
    assert attempts["write-a"] == (1 if error is StoreUnreachable else 2), (
        "an attempt that the store ended does not count"
    )
    assert bench.told("write-a") == ["retry", "started", "done"]


def test_a_runner_that_cannot_is_the_failure_of_one_step(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = bench.runner.run

    def refusing(submission: Submission) -> Work[Outcome]:
        if submission.job.label == "write-a":
            raise TranslationsError("The cluster refuses it.")
        return run(submission)

    monkeypatch.setattr(bench.runner, "run", refusing)
    with pytest.raises(StepFailed, match=r"write-a failed: The cluster refuses it\."):
        bench.make()
    assert bench.told("write-a") == ["failed"], "it is not tried again"


def test_a_bug_in_a_runner_is_the_failure_of_one_step(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    run = bench.runner.run

    def buggy(submission: Submission) -> Work[Outcome]:
        return [][0] if submission.job.label == "write-a" else run(submission)

    monkeypatch.setattr(bench.runner, "run", buggy)
    with pytest.raises(StepFailed, match=r"write-a failed: IndexError: .*\na bug of the engine") as caught:
        bench.make()
    assert "in buggy" in str(caught.value)
    assert bench.told("write-b") == ["started", "done"]


def test_a_listener_that_fails_stops_nothing(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    def listen(event: StepEvent) -> None:
        raise ValueError("the terminal is gone")

    session = bench.session()
    with caplog.at_level(logging.WARNING):
        results = Engine(bench.store, bench.runner).run(session, session.graph.steps, bench.cancel, listen)
    assert len(results) == 4
    assert "Showing done of join failed." in caplog.messages
    assert "the terminal is gone" in caplog.text


def test_an_interrupt_ends_what_runs(bench: Bench) -> None:
    bench.runner.gates["write-b"] = threading.Event()  # never opened: only cancelling ends it

    def listen(event: StepEvent) -> None:
        if event.what.kind == "done":
            raise KeyboardInterrupt

    session = bench.session()
    with pytest.raises(KeyboardInterrupt):
        Engine(bench.store, bench.runner).run(session, session.graph.steps, bench.cancel, listen)
    assert bench.cancel.is_set()


# Damage


def test_a_lost_result_of_a_repeatable_step_is_made_again(bench: Bench) -> None:
    bench.make()
    bench.lose("join")
    assert bench.make() == ["join"]
    job = bench.runner.jobs[-1]
    assert (job.generation, bench.why("join")) == (2, "joined.txt is missing from the store or damaged")


def test_a_lost_result_that_cannot_be_repeated_waits_for_a_person(bench: Bench) -> None:
    bench.make()
    bench.lose("count")
    with pytest.raises(StepFailed, match="count is lost: number.txt is missing") as caught:
        bench.make()
    assert "it took 0 s. It cannot be repeated byte by byte" in str(caught.value)
    assert "translations train en-ru --repair" in str(caught.value)
    assert len(bench.runner.ran) == 4
    bench.run(bench.session(run="run-2", options=RunOptions(repair=True)))
    assert (bench.runner.jobs[-1].label, bench.runner.jobs[-1].generation) == ("count", 2)
    assert bench.make() == []


def test_a_damaged_manifest_of_what_cannot_be_repeated_is_lost_too(bench: Bench, tmp_path: Path) -> None:
    bench.store = LocalStore(tmp_path / "store")
    bench.make()
    for found in list(bench.store.manifests()):
        if found.label == "count":
            path = tmp_path / "store" / "steps" / found.key[:2] / found.key / "1.json"
            path.chmod(0o644)
            path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StepFailed, match="count is lost"):
        bench.make()
    graph = demo_graph()
    planned = make_plan(graph.steps, KeyMaker(bench.root), bench.store).steps[-1]
    assert (planned.status, planned.reasons) == ("lost", (DAMAGED,))
    bench.run(bench.session(run="run-2", options=RunOptions(repair=True)))
    assert bench.make() == []


def test_a_lost_result_is_left_alone_when_everything_made_from_it_is_whole(bench: Bench) -> None:
    graph = graph_of(with_report())
    bench.run(bench.session(graph))
    bench.lose("count")
    session = bench.session(graph_of(with_report()), "run-2")
    assert all(result.cached for result in bench.run(session))
    assert session.results.warnings == [
        "count is lost (number.txt is missing from the store or damaged); everything made from it is intact."
    ]
    bench.lose("report")
    with pytest.raises(StepFailed, match="count is lost"):
        bench.run(bench.session(graph_of(with_report()), "run-3"))


def with_report() -> dict[str, Stage]:
    """The demo's stages, and one more that reads what cannot be repeated."""

    @stage(group="demo")
    def report(config: Any, count: Output) -> None:
        """The number, for people."""
        step("pipeline.demo.count", label="report", inputs={"number": count}, outputs=["report.txt"])

    return {**demo_stages({"a": "one", "b": "two"}), "report": report}


def test_damage_that_only_the_worker_sees_is_named_and_mended_by_the_next_run(
    bench: Bench, tmp_path: Path
) -> None:
    bench.store = LocalStore(tmp_path / "store")
    session = bench.session()
    bench.run(session, "texts")
    written = session.results.result(session.graph.step("write-a"))
    assert written is not None
    digest = written.outputs["text.txt"].digest
    path = next((tmp_path / "store" / "blobs").rglob(digest))
    path.chmod(0o644)
    path.write_bytes(b"x" * path.stat().st_size)

    with pytest.raises(StepFailed) as caught:
        bench.make()
    assert "Its input text.txt, made by write-a, is missing from the store or damaged." in str(caught.value)
    assert "translations train en-ru" in str(caught.value)
    assert bench.make() == ["write-a", "join", "count"]


# Cancelling


def cancel_midway(bench: Bench) -> None:
    """Cancel when write-a is done and write-b runs."""
    bench.runner.gates = {"write-a": threading.Event(), "write-b": threading.Event()}
    session = bench.session()

    def listen(event: StepEvent) -> None:
        bench.events.append(event)
        if (event.what.kind, event.step.label) == ("started", "write-b"):
            bench.runner.gates["write-a"].set()
        if (event.what.kind, event.step.label) == ("done", "write-a"):
            bench.cancel.set()

    with pytest.raises(RunCancelled, match=r"Not made: \S+, \S+, \S+\.$"):
        Engine(bench.store, bench.runner).run(session, session.graph.steps, bench.cancel, listen)


def test_cancelling_ends_what_runs_and_starts_nothing(bench: Bench) -> None:
    cancel_midway(bench)
    assert sorted(bench.runner.ran) == ["write-a", "write-b"]
    assert bench.told("write-b") == ["started", "cancelled"]
    assert bench.told("join") == []


def test_what_is_finished_when_a_run_is_cancelled_stays(bench: Bench) -> None:
    cancel_midway(bench)
    bench.cancel.clear()
    bench.runner.gates.clear()
    assert bench.make() == ["write-b", "join", "count"]


def test_cancelled_before_it_begins(bench: Bench) -> None:
    bench.cancel.set()
    with pytest.raises(RunCancelled, match=r"Not made: .* and 1 more\.$"):
        bench.make()
    assert bench.runner.ran == []


def test_cancelling_ends_a_pause(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts_module, "RETRY_SECONDS", 600.0)
    bench.runner.ends["write-a"] = [TEMPORARY] * 3
    session = bench.session(graph_of(one_stage({"write-a": "one"})))

    def listen(event: StepEvent) -> None:
        if event.what.kind == "retry":
            threading.Timer(0.05, bench.cancel.set).start()

    with pytest.raises(RunCancelled):
        Engine(bench.store, bench.runner).run(session, session.graph.steps, bench.cancel, listen)
    assert bench.runner.ran == ["write-a"]


def test_steps_that_wait_for_a_thread_do_not_start_after_cancelling(bench: Bench) -> None:
    labels = {f"write-{number}": str(number) for number in range(2 * engine_module.THREADS)}
    gate = threading.Event()
    bench.runner.gates = dict.fromkeys(labels, gate)
    session = bench.session(graph_of(one_stage(labels)))

    def listen(event: StepEvent) -> None:
        if len(bench.runner.jobs) == engine_module.THREADS:
            bench.cancel.set()

    with pytest.raises(RunCancelled):
        Engine(bench.store, bench.runner).run(session, session.graph.steps, bench.cancel, listen)
    assert len(bench.runner.jobs) == engine_module.THREADS
