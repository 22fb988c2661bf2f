"""Tests of tasks side by side in processes."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from pipeline.clean import tasks
from pipeline.clean.tasks import processes, run_all
from pipeline.common.errors import InputError, TemporaryError


def number_and_process(number: int) -> tuple[int, int]:
    """Work of the tests' tasks."""
    return number, os.getpid()


def fail() -> None:
    raise InputError("This file is damaged.")


def die() -> None:
    """Kill the process, as the kernel does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("number", [1, 2, 8])
def test_results_come_in_order(number: int) -> None:
    results = run_all([partial(number_and_process, n) for n in range(5)], number)
    assert [n for n, _ in results] == list(range(5))
    assert (os.getpid() in {process for _, process in results}) == (number == 1)


def test_one_task_needs_no_process() -> None:
    assert run_all([partial(number_and_process, 1)], 2) == [(1, os.getpid())]


def test_a_failing_task_says_why() -> None:
    with pytest.raises(InputError, match="damaged"):
        run_all([fail, fail, fail], 2)


def test_a_killed_process_is_worth_another_attempt() -> None:
    with pytest.raises(TemporaryError, match="killed"):
        run_all([die, die], 2)


def test_processes_are_as_many_as_threads_and_memory_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"a" * 100)
    monkeypatch.setenv("TRANSLATIONS_THREADS", "8")
    monkeypatch.setenv("TRANSLATIONS_MEMORY", "500")
    assert processes([file]) == 1
    monkeypatch.setattr(tasks, "SMALL", 100)
    assert processes([file]) == 4
    monkeypatch.setenv("TRANSLATIONS_MEMORY", "50")
    assert processes([file]) == 1
    monkeypatch.setenv("TRANSLATIONS_MEMORY", "50000")
    assert processes([file]) == 8
