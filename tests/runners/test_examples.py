"""The examples in the docstrings of the runners' central functions."""

from __future__ import annotations

import doctest
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.runners.kubernetes.states import JOB, POD
from tests.runners.scripts import COPY, job, run
from translations_assets.runners.kubernetes.state import judge
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.wire import Busy, Request, pack_reply, unpack_reply
from translations_assets.runners.worker import make_attempt
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import finish
from translations_assets.store.local import LocalStore


class Control:
    """As much of a worker's control as an attempt needs that starts no script."""

    def lose_lease(self, reason: str) -> None:
        raise AssertionError(reason)


def check(function: object, names: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """Run the examples of a function."""
    (example,) = doctest.DocTestFinder(recurse=False).find(function, "example", globs=names)
    result = doctest.DocTestRunner().run(example)
    assert result.attempted > 0
    assert result.failed == 0, capsys.readouterr().out


def test_of_the_local_runner(
    runner: LocalRunner, store: LocalStore, capsys: pytest.CaptureFixture[str]
) -> None:
    woken = threading.Event()

    def wait(seconds: float) -> None:
        woken.wait(seconds)
        woken.clear()

    names = {"runner": runner, "job": job(store, COPY), "store": store, "cancel": threading.Event()}
    example = {**names, "Submission": Submission, "wake": woken.set, "wait": wait, "finish": finish}
    check(LocalRunner.run, example, capsys)


def test_of_an_attempt(
    runner: LocalRunner, store: LocalStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    finished = job(store, COPY)
    assert run(runner, store, finished).kind == "done"
    other = replace(finished, key="cd" * 32)
    request = Request(
        other, store.url, str(tmp_path / "work"), threads=1, gpus=(), workspace=512, memory=2_000
    )
    names = {"store": store, "request": request, "finished": finished, "control": Control()}
    check(make_attempt, {**names, "replace": replace, "make_attempt": make_attempt}, capsys)


def test_of_a_reply(capsys: pytest.CaptureFixture[str]) -> None:
    check(unpack_reply, {"unpack_reply": unpack_reply, "pack_reply": pack_reply, "Busy": Busy}, capsys)


def test_of_a_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    check(judge, {"judge": judge, "replace": replace, "job": JOB, "pod": POD}, capsys)
