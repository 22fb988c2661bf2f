"""Killed at random moments, again and again: what is finished stays, nothing breaks, nothing is left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import eventually, leftovers, processes_of
from translations_assets.store.local import LocalStore

_KINDS = ("orchestrator", "one", "all")
_KILLS = 2 * len(_KINDS)
_STEPS = 12

# Runs all steps by a runner of its own and ends with 0 when all of them are done.
PROGRAM = """
import pathlib, sys, threading
from concurrent.futures import ThreadPoolExecutor
from tests.runners.scripts import attempt, job
from translations_assets.runners.local import LocalRunner
from translations_assets.store.local import LocalStore
root, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
script = '''
import pathlib, subprocess, sys
ran = pathlib.Path(sys.argv[sys.argv.index("--ran") + 1])
subprocess.run([sys.executable, "-c", "import time; time.sleep(0.2)"])
pathlib.Path("out").mkdir()
pathlib.Path("out/copy.txt").write_text(ran.name * 100_000)
with ran.open("a") as file:
    file.write("x")
'''
store, runner = LocalStore(root / "store"), LocalRunner(root / "state", cpus=2, gpus=[])
def run(number):
    command = ("--ran", str(root / str(number)), "--output", "out")
    work = job(store, script, key=f"{number:064x}", command=command)
    return attempt(runner, work, store, threading.Event(), lambda event: None).kind
with ThreadPoolExecutor(steps) as pool:
    sys.exit(set(pool.map(run, range(steps))) != {"done"})
"""


def start(tmp_path: Path) -> subprocess.Popen[bytes]:
    """The program, in a process group of its own."""
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(_STEPS)]
    return subprocess.Popen(command, start_new_session=True)


def kill_something(kind: str, chance: random.Random, main: int, root: Path) -> None:
    """Kill the orchestrator's group, or one of the workers and scripts, or all of them."""
    others = [pid for pid in processes_of(root) if pid != main]
    victims = {"orchestrator": [main], "one": others[:1] or [main], "all": [main, *others]}[kind]
    for pid in chance.sample(victims, len(victims)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def wait_for_a_script(program: subprocess.Popen[bytes], root: Path) -> None:
    """Wait until a step runs, or all have ended."""
    assert eventually(lambda: processes_of(root) != [] or program.poll() is not None)


@pytest.mark.slow
def test_killed_at_random_moments_it_goes_on_and_nothing_breaks(tmp_path: Path) -> None:
    chance = random.Random(7)
    finished: dict[str, str] = {}  # key → how often it ran
    store = LocalStore(tmp_path / "store")
    for number in range(_KILLS):
        program = start(tmp_path)
        wait_for_a_script(program, tmp_path)
        pause = chance.uniform(0.0, 2.0)
        if number == 0:
            assert eventually(lambda: any(store.manifests())), "some steps finish between two kills"
        time.sleep(pause)
        kill_something(_KINDS[number % len(_KINDS)], chance, program.pid, tmp_path)
        program.kill()
        program.wait()
        assert eventually(lambda: processes_of(tmp_path) == []), "no process is left"
        now = {made.key: (tmp_path / str(int(made.key, 16))).read_text() for made in store.manifests()}
        assert finished.items() <= now.items(), "what was finished stays finished and does not run again"
        finished = now
    assert finished, "some steps finish between two kills"
    assert start(tmp_path).wait(timeout=PATIENCE) == 0
    for number in range(_STEPS):
        made = store.latest(f"{number:064x}")
        assert made is not None
        assert store.read_blob(made.outputs["copy.txt"]) == str(number).encode() * 100_000
    store.add_bytes(b"the first write of a process sweeps temporary files")
    assert leftovers(tmp_path / "store") == []
    assert not (tmp_path / "store" / "quarantine").exists()
