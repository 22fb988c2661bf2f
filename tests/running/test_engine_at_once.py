"""Several steps, stages and runs at once; repeated stages; and many steps."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from tests.patience import PATIENCE
from tests.running.conftest import Bench, FakeRunner, demo_graph, graph_of, one_stage
from tests.virtual_clock import VirtualClock
from translations_assets.graph.stage import Stage, step
from translations_assets.graph.step import Step
from translations_assets.records.manifest import KeyParts, Manifest
from translations_assets.running import engine
from translations_assets.running.engine import Engine
from translations_assets.running.events import Started, StepResult
from translations_assets.running.job import Outcome
from translations_assets.running.runner import Submission
from translations_assets.running.session import Session
from translations_assets.running.tasks import Work

# Repeating


def test_a_repeated_stage_writes_the_next_generation(bench: Bench) -> None:
    bench.make()
    bench.run(bench.session(run="run-2", repeat=["join"]))
    job = bench.runner.jobs[-1]
    assert (job.label, job.generation) == ("join", 2)
    assert bench.why("join") == "the run repeats the stage join"
    assert len(bench.runner.jobs) == 5


def test_a_run_repeats_a_stage_once(bench: Bench) -> None:
    bench.make()
    session = bench.session(run="run-2", repeat=["join"])
    for _ in range(2):
        bench.run(session, "join")
    assert len(bench.runner.jobs) == 5
    bench.run(bench.session(run="run-3", repeat=["join"]), "join")
    assert bench.runner.jobs[-1].generation == 3


def test_what_a_stage_needed_before_is_repeated_all_the_same(bench: Bench) -> None:
    bench.make()
    session = bench.session(run="run-2", repeat=["texts"])
    bench.run(session, "join")
    assert len(bench.runner.jobs) == 4
    bench.run(session, "texts")
    assert sorted(bench.runner.ran[4:]) == ["write-a", "write-b"]


def test_a_repeated_step_that_never_ran_begins_with_generation_one(bench: Bench) -> None:
    bench.run(bench.session(repeat=["texts"]))
    assert {job.generation for job in bench.runner.jobs} == {1}


def test_repeating_with_the_same_bytes_leaves_what_follows_cached(bench: Bench) -> None:
    bench.make()
    results = bench.run(bench.session(run="run-2", repeat=["texts"]))
    assert {result.step.label: result.cached for result in results} == {
        "write-a": False,
        "write-b": False,
        "join": True,
        "count": True,
    }


def test_steps_with_one_key_are_repeated_once(bench: Bench) -> None:
    graph = graph_of(one_stage({"one": "same", "two": "same"}))
    bench.run(bench.session(graph))
    bench.run(bench.session(graph, "run-2", repeat=["texts"]))
    assert [job.generation for job in bench.runner.jobs] == [1, 2]


# Several at once


def test_steps_start_before_others_are_looked_up_and_explained(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "FIRST_STEPS", 1)
    labels = ["one", "two", "three", "four"]
    looked_up: list[int] = []
    explained: list[int] = []
    latest = bench.store.latest

    def look_up(key: str) -> Manifest | None:
        looked_up.append(len(bench.runner.ran))
        return latest(key)

    def explain(session: Session, step: Step, parts: KeyParts) -> list[str]:
        explained.append(len(bench.runner.ran))
        return [f"why {step.label}"]

    monkeypatch.setattr(bench.store, "latest", look_up)
    session = bench.session(graph_of(one_stage({label: label for label in labels})))
    made = Engine(bench.store, bench.runner, explain=explain, clock=VirtualClock())
    results = made.run(session, session.graph.steps, bench.cancel, bench.events.append)
    assert bench.runner.ran == labels
    assert looked_up == [0, 1, 1, 3]
    assert explained == [1, 2, 3, 4]
    assert [result.reason for result in results] == [f"why {label}" for label in labels]


def recorded(result: StepResult) -> str:
    """A result's manifest as its record says it."""
    return json.dumps(result.manifest.to_dict())


def test_two_steps_with_one_key_run_once_and_both_have_the_result(bench: Bench) -> None:
    session = bench.session(graph_of(one_stage({"one": "same", "two": "same"})))
    first, second = bench.run(session)
    assert recorded(first) == recorded(second)
    assert len(bench.runner.jobs) == 1


def test_two_runs_at_once_run_each_step_once(bench: Bench) -> None:
    labels = {f"write-{number}": str(number) for number in range(20)}
    sessions = [bench.session(demo_graph(**labels), run) for run in ("run-1", "run-2")]
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(bench.run, sessions)
    assert len(bench.runner.jobs) == len(labels) + 2
    assert len(set(bench.runner.ran)) == len(bench.runner.ran)
    assert list(map(recorded, first)) == list(map(recorded, second))


def test_stages_of_one_session_run_at_once(bench: Bench) -> None:
    words = {f"w{number}": str(number) for number in range(10)}
    session = bench.session(demo_graph(**words))
    bench.run(session, "texts")
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: bench.run(session, "join"), range(2)))
    assert recorded(both[0][0]) == recorded(both[1][0])
    assert bench.runner.ran.count("join") == 1


def test_steps_run_at_the_same_time(bench: Bench) -> None:
    barrier = threading.Barrier(2, timeout=PATIENCE)

    class Meeting(FakeRunner):
        def run(self, submission: Submission) -> Work[Outcome]:
            barrier.wait()  # breaks, and fails the step, when the other does not come
            return super().run(submission)

    bench.runner = Meeting()
    assert len(bench.run(bench.session(), "texts")) == 2


def test_events_of_a_step(bench: Bench) -> None:
    bench.make("texts")
    assert bench.told("write-a") == ["started", "done"]
    started = next(event for event in bench.events if isinstance(event.what, Started))
    assert started.what == Started(pid=1)
    assert bench.why("write-a") == "no result for its key"


def test_many_independent_steps(bench: Bench) -> None:
    labels = {f"write-{number}": str(number) for number in range(1000)}
    session = bench.session(graph_of(one_stage(labels)))
    began = time.monotonic()
    made = bench.run(session)
    between = time.monotonic()
    found = bench.run(replace(session, run="run-2"))
    print(f"1,000 steps: {between - began:.2f} s to run, {time.monotonic() - between:.2f} s to find again")
    assert [result.cached for result in made + found] == [False] * 1000 + [True] * 1000
    assert sorted(bench.runner.ran) == sorted(labels)


def test_a_long_chain(bench: Bench) -> None:
    def chain(config: Any) -> None:
        last = None
        for number in range(300):
            inputs = {"text": last["text.txt"] if last else None}
            last = step("pipeline.demo.join", label=f"link-{number}", inputs=inputs, outputs=["text.txt"])

    session = bench.session(graph_of({"chain": Stage("chain", "demo", chain, ())}))
    bench.run(session)
    assert bench.runner.ran == [f"link-{number}" for number in range(300)]
    later: Session = replace(session, run="run-2")
    later.results.need([later.graph.step("link-299")])
    assert later.results.result(later.graph.step("link-299")) is not None
