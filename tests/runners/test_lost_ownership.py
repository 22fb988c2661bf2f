"""A worker whose step is not its own any more: it ends its script and leaves the store to others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import KEY, alive, eventually, leftovers, processes_of
from translations_assets.store.local import LocalStore

# Makes an attempt that loses the step when the file `lose` appears: made during the call of the store that is
# named, or by the script. Prints the outcome; the file `stored` gets what is stored after that. With `away`
# for a name, the store is away when the attempt asks it next.
PROGRAM = f"""
import pathlib, sys, threading, time
from contextlib import contextmanager
from tests.runners.scripts import job
from translations_assets.runners.control import Control
from translations_assets.runners.worker import make_attempt
from translations_assets.runners.wire import Request
from translations_assets.common.errors import StoreUnreachable
from translations_assets.store.local import LocalStore, Ownership

root, script, during = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
going, told, missed = threading.Event(), threading.Event(), threading.Event()

class LosingOwners(Ownership):
    @contextmanager
    def lock(self, key, generation, lost=None):
        def lose():
            while not (root / "lose").exists():
                time.sleep(0.02)
            going.set()
            lost("the lease is another's")
            told.set()
        with super().lock(key, generation) as owner:
            threading.Thread(target=lose, daemon=True).start()
            yield owner

class Losing(LocalStore):
    def __init__(self, root):
        super().__init__(root)
        self.owners = LosingOwners(self.files)

    def generation(self, key, number):
        asked = threading.current_thread() is threading.main_thread()
        if during == "away" and asked and going.is_set() and not missed.is_set():
            missed.set()
            raise StoreUnreachable("It is away.")
        return super().generation(key, number)

def watched(name):
    method = getattr(LocalStore, name)
    def call(store, *args):
        if told.is_set():
            with (root / "stored").open("a") as file:
                print(name, file=file)
        if name == during:
            (root / "lose").touch()
            told.wait({PATIENCE})
        return method(store, *args)
    setattr(Losing, name, call)

store = LocalStore(root / "store")
work = job(store, script, resumable=True)
for name in ("append_log", "add_checkpoint", "add_blob", "commit", "place_blob"):
    watched(name)
request = Request(
    work, store.url, str(root / "store" / "work"), threads=1, gpus=(), workspace=512, memory=2_000, grace=120
)
outcome = make_attempt(request, lambda: Losing(root / "store"), Control(), lambda event: None)
print(outcome.kind, outcome.unreachable, outcome.message)
"""

# Saves a checkpoint set, then does what is asked for.
SCRIPT = """
import os, pathlib, signal, subprocess, sys, time
root = pathlib.Path({root!r})
print("a line of the log", flush=True)
saved = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"])
(saved / ".new").mkdir()
(saved / ".new" / "model.npz").write_text("a model")
(saved / ".new").rename(saved / "000100")
{body}
pathlib.Path("out").mkdir()
pathlib.Path("out/copy.txt").write_text("done")
"""

# A deaf script with a child: both must be gone although it never ends by itself.
WORKS_ON = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
(root / "pids").write_text(f"{os.getpid()} {child.pid}")
(root / "lose").touch()
time.sleep(600)
"""


def make_attempt(root: Path, body: str, during: str = "") -> tuple[str, list[str]]:
    """Make an attempt that loses its step; its outcome, and what it stored after that."""
    command = [sys.executable, "-c", PROGRAM, str(root), SCRIPT.format(root=str(root), body=body), during]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    stored = root / "stored"
    return ended.stdout.strip(), stored.read_text().split() if stored.exists() else []


def test_its_script_is_ended_at_once_and_nothing_is_stored(tmp_path: Path) -> None:
    outcome, stored = make_attempt(tmp_path, WORKS_ON)
    assert outcome == "temporary False stopped before its end: the lease is another's"
    assert stored == []
    assert not any(alive(int(pid)) for pid in (tmp_path / "pids").read_text().split())
    store = LocalStore(tmp_path / "store")
    assert store.latest(KEY) is None
    assert eventually(lambda: processes_of(tmp_path / "store") == [])
    assert leftovers(store.root) == []


def test_a_script_is_not_started(tmp_path: Path) -> None:
    outcome, stored = make_attempt(tmp_path, "(root / 'started').touch()", "place_blob")
    assert outcome == "temporary False not started: the lease is another's"
    assert stored == []
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("during", ["add_blob", "commit"])
def test_the_whole_result_of_a_script_that_had_ended_is_kept(tmp_path: Path, during: str) -> None:
    """It is as good as the next owner's, who finds it there."""
    outcome, stored = make_attempt(tmp_path, "", during)
    assert outcome == "done False"
    assert set(stored) <= {"commit"}, "no log and no checkpoint set"
    store = LocalStore(tmp_path / "store")
    made = store.latest(KEY)
    assert made is not None
    assert store.read_blob(made.outputs["copy.txt"]) == b"done"


def test_one_that_saves_because_its_machine_goes_away_is_ended_as_well(tmp_path: Path) -> None:
    """It was given two minutes, in which somebody else might begin."""
    body = f"os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(5)\n{WORKS_ON}"
    outcome, stored = make_attempt(tmp_path, "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + body)
    assert outcome == "temporary False stopped before its end: SIGTERM from outside"
    assert stored == []


def test_an_ownership_that_was_lost_with_the_store_costs_no_attempt(tmp_path: Path) -> None:
    outcome, _ = make_attempt(tmp_path, WORKS_ON, "away")
    assert outcome.startswith("temporary True stopped before its end")
