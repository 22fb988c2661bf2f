"""The engine: what runs, in which order, how often, and what is said when it goes wrong."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.running.conftest import SETTINGS, Bench, FakeRunner, demo_graph, graph_of, one_stage
from tests.virtual_clock import VirtualClock
from translations_assets.common.errors import StepFailed
from translations_assets.running import attempts
from translations_assets.running.events import Retry
from translations_assets.running.failure import LOG_LINES
from translations_assets.running.job import Outcome
from translations_assets.running.runner import Submission
from translations_assets.running.session import UpstreamMissing
from translations_assets.running.tasks import Wake, Work, pause

FAILED = Outcome("failed", message="pipeline.demo.write ended with exit code 1", log_tail="first\nlast")
TEMPORARY = Outcome("temporary", message="the worker was killed")


def fail(bench: Bench, *labels: str, times: int = 1) -> None:
    for label in labels:
        bench.runner.ends[label] = [FAILED] * times


def test_all_steps_run_once_and_after_what_they_read(bench: Bench) -> None:
    ran = bench.make()
    assert sorted(ran[:2]) == ["write-a", "write-b"]
    assert ran[2:] == ["join", "count"]


def test_results_come_in_the_order_of_the_steps(bench: Bench) -> None:
    bench.runner.gates["write-a"] = threading.Event()
    opener = threading.Timer(0.1, bench.runner.gates["write-a"].set)
    opener.start()
    results = bench.run(bench.session())
    opener.join()
    assert [result.step.label for result in results] == ["write-a", "write-b", "join", "count"]
    assert [result.cached for result in results] == [False] * 4


def test_a_second_run_runs_nothing(bench: Bench) -> None:
    bench.make()
    results = bench.run(bench.session(run="run-2"))
    assert len(bench.runner.jobs) == 4
    assert [result.cached for result in results] == [True] * 4
    assert bench.told("join")[-1] == "cached"


def test_stages_can_be_run_one_by_one_in_one_session(bench: Bench) -> None:
    session = bench.session()
    for stage in session.graph.stages:
        bench.run(session, stage)
    assert len(bench.runner.ran) == 4


def test_a_stage_without_steps_is_no_error(bench: Bench) -> None:
    assert bench.run(bench.session(graph_of(one_stage({})))) == []


def test_a_job_is_the_step_with_its_inputs(bench: Bench) -> None:
    session = bench.session()
    bench.run(session)
    job = next(job for job in bench.runner.jobs if job.label == "join")
    written = session.results.result(session.graph.step("write-a"))
    assert written is not None
    assert job.script == "pipeline.demo.join"
    assert job.command[-2:] == ("--output", "out")
    assert set(job.inputs) == {"texts/0/text.txt", "texts/1/text.txt", "settings/settings.yml"}
    assert job.inputs["texts/0/text.txt"] == written.outputs["text.txt"]
    assert bench.store.read_blob(job.inputs["settings/settings.yml"]) == (
        (bench.root / SETTINGS.path).read_bytes()
    )
    assert bench.store.has_blob(job.bundle)
    assert (job.generation, job.attempt) == (1, 1)
    assert job.provenance.stage == "join"
    assert (job.provenance.run, job.provenance.partition) == ("run-1", "en-ru")


def test_an_edit_between_keys_and_the_run_does_not_reach_the_job(bench: Bench) -> None:
    session = bench.session()
    before = (bench.root / SETTINGS.path).read_bytes()
    session.keys.repo_file(SETTINGS)
    (bench.root / SETTINGS.path).write_text("separator: other\n")
    bench.run(session)
    job = next(job for job in bench.runner.jobs if job.label == "join")
    assert bench.store.read_blob(job.inputs["settings/settings.yml"]) == before


def test_a_change_runs_what_it_reaches_and_no_more(bench: Bench) -> None:
    bench.make()
    assert bench.make(a="one", b="three") == ["write-b", "join", "count"]


def test_early_cutoff(bench: Bench) -> None:
    bench.runner.contents["write-b"] = b"the same, whatever the word"
    bench.make()
    assert bench.make(a="one", b="three") == ["write-b"]


def test_an_upstream_stage_that_is_not_run_is_found(bench: Bench) -> None:
    bench.make("texts")
    assert bench.make("join") == ["join"]


def test_an_upstream_stage_that_was_never_made_stops_before_anything_runs(bench: Bench) -> None:
    with pytest.raises(UpstreamMissing, match="--target texts"):
        bench.run(bench.session(), "join")
    assert bench.runner.ran == []


def test_a_result_of_a_ref_does_not_stand_in_for_a_step_that_is_to_run(bench: Bench) -> None:
    old = bench.session(demo_graph(a="old"))
    bench.run(old, "texts")
    old.results.publish("texts")
    session = bench.session(demo_graph(a="new"), "run-2")
    session.results.need([session.graph.step("write-a")])
    bench.run(session, "texts", "join")
    job = bench.runner.jobs[-1]
    new = session.results.result(session.graph.step("write-a"))
    assert new is not None
    assert (job.label, job.inputs["texts/0/text.txt"]) == ("join", new.outputs["text.txt"])
    assert new.manifest is not None
    assert new.manifest.provenance.parts.args == {"word": "new"}


# Failures


def test_a_failing_step_stops_its_successors_and_not_its_siblings(bench: Bench) -> None:
    fail(bench, "write-a")
    with pytest.raises(StepFailed):
        bench.make()
    assert sorted(bench.runner.ran) == ["write-a", "write-b"]
    assert bench.told("write-b") == ["started", "done"]
    assert bench.told("write-a") == ["started", "failed"]
    assert bench.told("join") == []


def test_the_error_says_what_failed_and_how_to_look_further(bench: Bench) -> None:
    fail(bench, "write-a")
    with pytest.raises(StepFailed) as caught:
        bench.make()
    assert str(caught.value).splitlines() == [
        "The step write-a failed: pipeline.demo.write ended with exit code 1",
        "    first",
        "    last",
        "Its whole log: translations logs en-ru write-a",
    ]


def test_of_a_long_log_the_end_is_shown(bench: Bench) -> None:
    lines = [f"line {number}" for number in range(100)]
    bench.runner.ends["write-a"] = [replace(FAILED, log_tail="\n".join(lines))]
    with pytest.raises(StepFailed) as caught:
        bench.make()
    shown = [line.strip() for line in str(caught.value).splitlines()[1:-1]]
    assert shown == lines[-LOG_LINES:]


def test_every_failed_step_is_named(bench: Bench) -> None:
    fail(bench, "write-a", "write-b")
    with pytest.raises(StepFailed) as caught:
        bench.make()
    assert all(f"The step {label} failed" in str(caught.value) for label in ("write-a", "write-b"))


def test_the_next_run_repeats_only_what_failed(bench: Bench) -> None:
    fail(bench, "write-a")
    with pytest.raises(StepFailed):
        bench.make()
    assert bench.make() == ["write-a", "join", "count"]


def test_a_script_that_failed_by_its_own_fault_is_not_tried_again(bench: Bench) -> None:
    fail(bench, "write-a")
    with pytest.raises(StepFailed):
        bench.make("texts")
    assert bench.runner.ran.count("write-a") == 1


def test_attempts_of_later_runs_are_numbered_on(bench: Bench) -> None:
    fail(bench, "write-a")
    with pytest.raises(StepFailed):
        bench.make("texts")
    bench.make("texts")
    assert [job.attempt for job in bench.runner.jobs if job.label == "write-a"] == [1, 2]


def test_a_temporary_failure_is_tried_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.001)
    bench.runner.ends["write-a"] = [TEMPORARY, TEMPORARY]
    bench.make()
    assert [job.attempt for job in bench.runner.jobs if job.label == "write-a"] == [1, 2, 3]
    assert bench.told("write-a") == ["started", "retry", "started", "retry", "started", "done"]
    retry = next(event.what for event in bench.events if event.what.kind == "retry")
    assert retry == Retry("the worker was killed")


def test_another_attempt_is_told_with_the_scripts_own_error(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.001)
    log = "reading\nerror: no answer\nerror: the network is away\nConnect this machine."
    bench.runner.ends["write-a"] = [Outcome("temporary", message="exit code 75", log_tail=log)]
    bench.make("texts")
    retry = next(event.what for event in bench.events if event.what.kind == "retry")
    assert retry == Retry("exit code 75; error: the network is away")


def test_temporary_failures_end_with_the_last_attempt(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.001)
    bench.runner.ends["write-a"] = [TEMPORARY] * 9
    with pytest.raises(StepFailed, match="write-a failed: the worker was killed"):
        bench.make("texts")
    assert bench.runner.ran.count("write-a") == 3
    assert bench.told("write-a")[-1] == "failed"


def test_attempts_whose_place_a_queue_takes_back_do_not_count(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.001)
    taken = Outcome("temporary", message="Kueue took the room of its Job back", uncounted=True)
    bench.runner.ends["write-a"] = [TEMPORARY, taken, taken, taken, TEMPORARY]
    bench.make("texts")
    made = [job.attempt for job in bench.runner.jobs if job.label == "write-a"]
    assert made == [1, 2, 3, 4, 5, 6]  # and each has a log of its own


def test_an_attempt_whose_place_a_queue_takes_back_is_none_of_three(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 0.001)
    bench.runner.ends["write-a"] = [TEMPORARY, replace(TEMPORARY, uncounted=True), *[TEMPORARY] * 9]
    with pytest.raises(StepFailed):
        bench.make("texts")
    assert bench.runner.ran.count("write-a") == 4


class Slow(FakeRunner):
    """Attempts take a minute each; no more than two at once, and the others wait. Notes when they begin."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self.clock, self.free = clock, 2
        self.begun: list[float] = []
        self.queue: list[Wake] = []
        self.threads: set[int] = set()

    def run(self, submission: Submission) -> Work[Outcome]:
        wake = submission.wake
        self.queue.append(wake)
        while not self.free or wake not in self.queue[: self.free]:
            yield 1e9
        self.queue.remove(wake)
        self.free -= 1
        self.begun.append(self.clock.now - 1000)
        self.threads.add(threading.get_ident())
        yield from pause(60, submission.cancel.is_set, self.clock)
        outcome = yield from super().run(submission)
        self.free += 1
        for other in self.queue:
            other()
        return outcome


def test_pauses_between_attempts_grow(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "RETRY_SECONDS", 3.0)
    bench.clock = clock = VirtualClock()
    bench.runner = slow = Slow(clock)
    slow.ends["write-a"] = [TEMPORARY] * 3
    with pytest.raises(StepFailed):
        bench.run(bench.session(graph_of(one_stage({"write-a": "one"}))))
    assert slow.begun == [0, 63, 129]


def test_steps_that_wait_need_no_thread_and_go_by_the_clock_that_is_given(bench: Bench) -> None:
    """Three hundred steps wait for two slots: two and a half hours, all in this thread."""
    bench.clock = clock = VirtualClock()
    bench.runner = slow = Slow(clock)
    labels = {f"write-{number}": str(number) for number in range(300)}
    session = bench.session(graph_of(one_stage(labels)), clock=clock)
    assert len(bench.run(session)) == 300
    assert slow.begun == [60 * (number // 2) for number in range(300)]
    assert slow.threads == {threading.get_ident()}
