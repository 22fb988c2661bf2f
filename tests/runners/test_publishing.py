"""A store that does not take a log or a checkpoint set, while a script runs and when it has ended."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runners.scripts import KEY
from translations_assets.store.local import LocalStore

# Makes an attempt over a store that raises an error in one method: "once", "forever", or "running", which is
# until the script has been told to end. Prints the outcome and what the method was called with.
PROGRAM = """
import json, pathlib, sys
from tests.runners.scripts import job
from translations_assets.runners.control import Control
from translations_assets.runners.worker import make_attempt
from translations_assets.runners.wire import Request
from translations_assets.store.local import LocalStore

root, method, when, script = pathlib.Path(sys.argv[1]), *sys.argv[2:]
calls = []

class Failing(LocalStore):
    pass

def call(store, *args):
    calls.append([str(value) for value in args])
    if when == "forever" or (when == "once" and len(calls) == 1) or (
        when == "running" and not (root / "ended").exists()
    ):
        raise ValueError("an answer that was not foreseen")
    return getattr(LocalStore, method)(store, *args)

setattr(Failing, method, call)
store = Failing(root / "store")
work = job(store, script, resumable=True)
request = Request(
    work, store.url, str(root / "store" / "work"), threads=1, gpus=(), workspace=512, memory=2_000,
    unsaved_minutes=10 if when == "once" else 0.04
)
outcome = make_attempt(request, lambda: store, Control(), lambda event: None)
print(json.dumps([outcome.kind, outcome.message, len(calls)]))
"""

# Saves a checkpoint set at once and another one when it is told to end, which it waits for.
TRAINING = """
import os, pathlib, signal, sys, time
root = pathlib.Path({root!r})
sets = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"])
def save(name):
    (sets / ".new").mkdir()
    (sets / ".new" / "model.npz").write_text(name)
    (sets / ".new").rename(sets / name)
def end(*_):
    save("000200")
    (root / "ended").touch()
    sys.exit(75)
signal.signal(signal.SIGTERM, end)
print("a line of the log", flush=True)
save("000100")
time.sleep({seconds})
pathlib.Path("out").mkdir()
pathlib.Path("out/copy.txt").write_text("done")
"""


def attempt(root: Path, method: str, when: str, seconds: float) -> tuple[str, str, int]:
    script = TRAINING.format(root=str(root), seconds=seconds)
    command = [sys.executable, "-c", PROGRAM, str(root), method, when, script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    value: Any = json.loads(done.stdout)
    return tuple(value)


def log(root: Path) -> str:
    return b"".join(LocalStore(root / "store").read_log(KEY, 1, 1)).decode()


def test_a_log_that_cannot_be_stored_fails_no_attempt(tmp_path: Path) -> None:
    kind, message, calls = attempt(tmp_path, "append_log", "forever", 0)
    assert (kind, message) == ("done", "")
    assert calls > 0
    assert log(tmp_path) == ""


@pytest.mark.parametrize("method", ["append_log", "read_log", "add_checkpoint"])
def test_what_fails_once_is_done_again(tmp_path: Path, method: str) -> None:
    kind, _, calls = attempt(tmp_path, method, "once", 5 if method != "add_checkpoint" else 3)
    assert (kind, calls > 1) == ("done", True)
    assert log(tmp_path).count("a line of the log\n") == 1
    assert log(tmp_path).count("a bug: ValueError('an answer that was not foreseen')\n") == 1
    assert log(tmp_path).count("stored checkpoint set 000100") == 1


def test_a_training_whose_sets_cannot_be_stored_saves_and_ends(tmp_path: Path) -> None:
    kind, message, _ = attempt(tmp_path, "add_checkpoint", "forever", 60)
    assert kind == "temporary"
    assert message == (
        "stopped before its end: no checkpoint set could be stored for 0.04 minutes: "
        "a bug: ValueError('an answer that was not foreseen')"
    )


def test_what_it_saves_at_its_end_is_stored_if_it_can_be(tmp_path: Path) -> None:
    kind, message, _ = attempt(tmp_path, "add_checkpoint", "running", 60)
    assert (kind, "no checkpoint set could be stored" in message) == ("temporary", True)
    (tmp_path / "placed").mkdir()
    assert LocalStore(tmp_path / "store").place_checkpoints(KEY, 1, tmp_path / "placed") == [
        "000100",
        "000200",
    ]
