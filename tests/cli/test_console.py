"""What a run shows on the terminal."""

import io
import sys

import pytest
from rich.console import Console as Terminal

from tests.memory_store import MemoryStore
from translations_assets.cli.console import Console, steps
from translations_assets.graph.step import Step
from translations_assets.running.engine import StepEvent


def step(label: str) -> Step:
    return Step("pipeline.x", label, "x", {}, {}, ("out",))


def lower_lines(console: Console) -> list[str]:
    terminal = Terminal(file=io.StringIO(), width=100)
    with terminal.capture() as capture:
        terminal.print(console.lines())
    return capture.get().splitlines()


def test_lines_of_what_ends(capsys: pytest.CaptureFixture[str]) -> None:
    console = Console(["a", "b", "c", "d"], MemoryStore())
    console(StepEvent("cached", step("a")))
    console(StepEvent("started", step("b")))
    console(StepEvent("retry", step("b"), {"message": "the machine is gone."}))
    console(StepEvent("done", step("b")))
    console(StepEvent("failed", step("c"), {"message": "It failed."}))
    console(StepEvent("cancelled", step("d")))
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "[  1/4] b: trying again: the machine is gone.",
        "[  2/4] b done after 0.0 s",
        "[  3/4] c failed",  # it never began, so it took no time
        "[  3/4] d cancelled",
    ]
    assert said.err == "\nIt failed.\n\n"


def test_what_is_running_with_its_numbers_and_the_time_left() -> None:
    console = Console(["a", "b", "c"], MemoryStore(), {"a": 10.0, "b": 100.0, "c": 300.0})
    console(StepEvent("started", step("a")))
    console(StepEvent("done", step("a")))
    console(StepEvent("started", step("b")))
    console._is_live = True
    console(StepEvent("progress", step("b"), {"kind": "train", "update": 300, "cost": 3.14159}))
    head, running = lower_lines(console)
    assert head == "1/3 steps  1 running  about 7 min left"
    assert running.split() == ["b", "0", "s", "update", "300,", "cost", "3.142"]


def test_the_time_left_is_a_lower_bound_when_a_step_is_new() -> None:
    console = Console(["a", "b"], MemoryStore(), {"a": 90.0})
    assert lower_lines(console) == ["0/2 steps  0 running  at least 90 s left"]
    assert lower_lines(Console(["a"], MemoryStore())) == ["0/1 step  0 running"]


def test_many_running_steps_are_counted() -> None:
    labels = [f"step-{number}" for number in range(20)]
    console = Console(labels, MemoryStore())
    for label in labels:
        console(StepEvent("started", step(label)))
    lines = lower_lines(console)
    assert len(lines) == 14
    assert lines[-1].strip() == "and 8 more"


def test_a_terminal_gets_live_lines_and_a_file_none(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.live import Live

    console = Console(["a"], MemoryStore())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    with console.display() as nothing:
        assert nothing is None
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    with console.display() as live:
        assert isinstance(live, Live)


def test_one_step_is_no_steps() -> None:
    assert [steps(number) for number in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
