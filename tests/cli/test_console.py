"""Tests of a run's progress on the terminal: here by the engine's events, on a server by its own."""

import io
import os
import threading
from typing import Any

import pytest
from rich.console import Console as Terminal

from tests.memory_store import MemoryStore
from tests.patience import PATIENCE
from tests.running.conftest import demo_graph
from translations_assets.cli.console import Console, Follower
from translations_assets.graph.step import Step
from translations_assets.running import events
from translations_assets.running.events import StepEvent

SERVER = "http://127.0.0.1:3000"


def step(label: str) -> Step:
    return Step("pipeline.x", label, "x", {}, {}, ("out",))


def lower_lines(console: Console) -> list[str]:
    terminal = Terminal(file=io.StringIO(), width=100)
    with terminal.capture() as capture:
        terminal.print(console.lines())
    return [line.rstrip() for line in capture.get().splitlines()]


def test_lines_of_what_ends(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(["a", "b", "c", "d"], MemoryStore())
    console(StepEvent(step("a"), events.Cached()))
    console(StepEvent(step("b"), events.Waiting("waits for run a1, which is already making it")))
    assert lower_lines(console) == [
        "1/4 steps  1 cached  0 running",
        "  b waits for run a1, which is already making it",
    ]
    console(StepEvent(step("b"), events.Started()))
    console(StepEvent(step("b"), events.Explained("argument --word: one → two")))
    console(StepEvent(step("b"), events.Retry("the machine was lost.")))
    console(StepEvent(step("b"), events.Done()))
    console(StepEvent(step("c"), events.Failed("It failed.")))
    console(StepEvent(step("d"), events.Cancelled()))
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "[  1/4] b: waits for run a1, which is already making it",
        "[  1/4] b: trying again: the machine was lost.",
        "[  2/4] b done after 0.0 s",
        "[  3/4] c failed",  # it never began, so it took no time
        "[  3/4] d cancelled",
    ]
    assert said.err == "\nIt failed.\n\n"


def test_what_is_running_with_its_numbers_and_the_time_left() -> None:
    console = Console(["a", "b", "c", "d"], MemoryStore(), {"a": 10.0, "b": 100.0, "c": 300.0, "d": 0.0})
    console(StepEvent(step("a"), events.Started()))
    console(StepEvent(step("a"), events.Done()))
    console(StepEvent(step("a"), events.Explained("it comes when it comes")))
    console(StepEvent(step("d"), events.Cached()))
    console(StepEvent(step("b"), events.Started()))
    console(StepEvent(step("b"), events.Progress({"kind": "train", "update": 300, "cost": 3.14159})))
    head, running, numbers = lower_lines(console)
    assert head == "2/4 steps  1 cached  1 done  1 running  about 7 min left"
    assert running.split() == ["b", "0", "s"]
    assert numbers == "    300 updates, cost 3.142"


def test_a_training_has_a_bar_and_the_time_that_its_pace_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    args = {"marian_args": '{"after": "600u"}'}
    training = Step("pipeline.train.train", "train", "x", args, {}, ("out",))
    console = Console(["train"], MemoryStore(), {"train": 5000.0})
    console(StepEvent(training, events.Started()))
    console(StepEvent(training, events.Progress({"update": 100, "epoch": 1, "words_per_second": 1250.4})))
    assert lower_lines(console)[0].endswith("about 83 min left")
    now += 10.0
    console(StepEvent(training, events.Progress({"update": 200})))
    console(StepEvent(training, events.Progress({"kind": "valid", "update": 200, "chrf": 41.32})))
    now += 5.0  # since the last update
    head, running, bar = lower_lines(console)
    assert head == "0/1 step  1 running  about 35 s left"
    assert running == "  train  15 s, about 35 s left"
    assert bar == "    ━━━        200 of 600 updates, 1,250 words/s, chrf 41.32"


def test_the_time_left_shrinks_while_a_step_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    console = Console(["a"], MemoryStore(), {"a": 90.0})
    console(StepEvent(step("a"), events.Started()))
    left = []
    for clock[0] in (1010.0, 1080.0, 1200.0):
        left.append(lower_lines(console)[0].rpartition("about ")[2])
    assert left == ["80 s left", "10 s left", "0 s left"]


def test_numbers_that_come_after_the_end_start_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(["a"], MemoryStore())
    console(StepEvent(step("a"), events.Started()))
    console(StepEvent(step("a"), events.Done()))
    console(StepEvent(step("a"), events.Progress({"update": 300})))
    assert lower_lines(console) == ["1/1 step  1 done  0 running"]
    assert capsys.readouterr().out == "[  1/1] a done after 0.0 s\n"


def test_the_time_left_is_a_lower_bound_when_a_step_is_new() -> None:
    console = Console(["a", "b"], MemoryStore(), {"a": 90.0})
    assert lower_lines(console) == ["0/2 steps  0 running  at least 90 s left"]
    assert lower_lines(Console(["a"], MemoryStore())) == ["0/1 step  0 running"]


def test_many_running_steps_are_counted() -> None:
    labels = [f"step-{number}" for number in range(20)]
    console = Console(labels, MemoryStore())
    for label in labels:
        console(StepEvent(step(label), events.Started()))
    lines = lower_lines(console)
    assert len(lines) == 14
    assert lines[-1].strip() == "and 8 more"


def test_lines_go_where_output_went_before_it_was_redirected(capfd: pytest.CaptureFixture[str]) -> None:
    console = Console(["a", "b"], MemoryStore())
    with console.display(), open(os.devnull, "w") as nowhere:
        kept = [os.dup(number) for number in (1, 2)]
        for number in (1, 2):
            os.dup2(nowhere.fileno(), number)  # as Dagster does while it captures output
        console(StepEvent(step("a"), events.Done()))
        console(StepEvent(step("b"), events.Failed("It failed.")))
        for number, before in enumerate(kept, start=1):
            os.dup2(before, number)
            os.close(before)
    said = capfd.readouterr()
    # Others write there as well: threads and processes of earlier tests that end in this moment
    assert "[  1/2] a done\n[  2/2] b failed\n" in said.out
    assert "\nIt failed.\n\n" in said.err


def logged(kind: str, label: str, line: str = "", **others: str) -> dict[str, Any]:
    """An event of a server's log that is one of a step."""
    texts = {"event": kind, "step": label, **others}
    entries = [{"label": name, "text": text} for name, text in texts.items()]
    return {"__typename": "EngineEvent", "message": line, "metadataEntries": entries, "error": None}


@pytest.fixture
def seen() -> list[StepEvent]:
    return []


@pytest.fixture
def follower(seen: list[StepEvent]) -> Follower:
    return Follower(demo_graph(), seen.append, SERVER)


def kinds(seen: list[StepEvent]) -> list[tuple[str, str]]:
    return [(event.what.kind, event.step.label) for event in seen]


def test_steps_are_known_by_metadata_and_not_by_lines(follower: Follower, seen: list[StepEvent]) -> None:
    follower.emit(logged("started", "write-a", "strange words"))
    follower.emit({"__typename": "LogMessageEvent", "message": "write-a: done"})
    follower.emit({"__typename": "EngineEvent", "message": "write-a: done", "metadataEntries": []})
    follower.emit(logged("retry", "write-a", message="No network."))
    assert kinds(seen) == [("started", "write-a"), ("retry", "write-a")]
    assert seen[1].what == events.Retry("No network.")
    follower.emit(logged("teleported", "write-a"))  # by a newer server
    assert len(seen) == 2


def test_what_did_not_run_was_cached(follower: Follower, seen: list[StepEvent]) -> None:
    follower.emit(logged("done", "write-a"))
    stage = seen[0].step.stage
    follower.emit({"__typename": "MaterializationEvent", "assetKey": {"path": [stage]}})
    assert kinds(seen) == [("done", "write-a"), ("cached", "write-b")]


def test_numbers_are_progress(follower: Follower, seen: list[StepEvent]) -> None:
    entries = [
        {"label": "update", "intValue": 7},
        {"label": "step", "text": "write-a"},
        {"label": "update (2)", "intValue": 8},
        {"label": "step (2)", "text": "write-b"},
    ]
    follower.emit({"__typename": "ObservationEvent", "metadataEntries": entries})
    assert kinds(seen) == [("progress", "write-a"), ("progress", "write-b")]
    assert [event.what for event in seen] == [events.Progress({"update": 7}), events.Progress({"update": 8})]


def test_steps_of_another_graph_are_passed_over(follower: Follower, seen: list[StepEvent]) -> None:
    follower.emit(logged("started", "unknown"))
    assert seen == []


def test_a_failure_is_explained_once_with_the_address_of_the_log(
    follower: Follower, seen: list[StepEvent], capsys: pytest.CaptureFixture[str]
) -> None:
    follower.emit(logged("failed", "write-a"))
    error = {"message": "The step write-a failed\n"}
    links = {"metadataEntries": [{"label": "log of write-a", "url": "/step-logs/abc/1"}]}
    follower.emit({"__typename": "ExecutionStepFailureEvent", "error": error, "failureMetadata": links})
    follower.emit({"__typename": "RunFailureEvent", "error": error})
    assert follower.explain() == f"The step write-a failed\nlog of write-a: {SERVER}/step-logs/abc/1"
    Console(["write-a"], MemoryStore())(seen[0])
    assert capsys.readouterr().out == "[  1/1] write-a failed\n"


def test_the_display_may_ask_for_its_lines_while_a_line_is_printed() -> None:
    """Printing waits for a refresh that is under way, which must not wait for what prints."""
    console, answered = Console(["a"], MemoryStore()), list[object]()

    def printed(text: object) -> None:
        display = threading.Thread(target=lambda: answered.append(console.lines()), daemon=True)
        display.start()
        display.join(PATIENCE / 24)

    console._say = printed
    console(StepEvent(step("a"), events.Started()))
    console(StepEvent(step("a"), events.Retry("again")))
    assert len(answered) == 1
