"""A store whose disk is away for a moment while a script runs in it: its result is not lost."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import KEY, attempt, eventually, job, leftovers, output
from translations_assets.common.errors import StoreUnreachable
from translations_assets.runners.local import LocalRunner
from translations_assets.running.job import Outcome
from translations_assets.store.local import LocalStore

SCRIPT = """
import pathlib, sys, time
root = pathlib.Path({root!r})
(root / "started").open("a").write("x")
while not (root / "go").exists():
    time.sleep(0.02)
{end}
pathlib.Path("out").mkdir()
pathlib.Path("out/copy.txt").write_text("done")
(root / "wrote").touch()
"""


def run_without_store(
    runner: LocalRunner, store: LocalStore, root: Path, end: str, until: Callable[[], bool]
) -> Outcome:
    """Run a step; its store is away from before the script's end until something is so, and seconds more."""
    away = store.root.with_name("away")
    work = job(store, SCRIPT.format(root=str(root), end=end))
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(attempt, runner, work, store, threading.Event(), lambda event: None)
        assert eventually(lambda: (root / "started").exists())
        store.root.rename(away)
        store.root.mkdir()
        (root / "go").touch()
        assert eventually(until)
        time.sleep(4)
        store.root.rmdir()
        away.rename(store.root)
        return outcome.result(timeout=PATIENCE)


def test_a_result_waits_for_the_store(runner: LocalRunner, store: LocalStore, tmp_path: Path) -> None:
    outcome = run_without_store(runner, store, tmp_path, "", until=(tmp_path / "wrote").exists)
    assert outcome.kind == "done", outcome.message
    assert output(store, outcome) == "done"
    assert (tmp_path / "started").read_text() == "x", "it ran once"
    log = b"".join(store.read_log(KEY, 1, 1)).decode()
    assert "cannot be reached: its contents have disappeared" in log
    assert "Waiting for it, at most 10 minutes." in log
    assert leftovers(store.root) == []


@pytest.mark.parametrize("code", [1, 75])
def test_a_script_that_fails_without_its_store_is_not_to_blame(
    runner: LocalRunner, store: LocalStore, tmp_path: Path, code: int
) -> None:
    end = f"(root / 'failed').touch(); sys.exit({code})"
    outcome = run_without_store(runner, store, tmp_path, end, until=(tmp_path / "failed").exists)
    assert (outcome.kind, outcome.unreachable) == ("temporary", True)
    assert "the store could not be reached while the script ran" in outcome.message


def test_a_step_cannot_begin_without_its_store(runner: LocalRunner, store: LocalStore) -> None:
    work = job(store, "")
    store.root.rename(store.root.with_name("away"))
    with pytest.raises(StoreUnreachable):
        attempt(runner, work, store, threading.Event(), lambda event: None)
    assert not store.root.exists()
