"""Several runs that want one step: it goes on as long as one of them does, and ends with the last."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import COPY, KEY, alive, attempt, eventually, held, job, leftovers, processes_of
from translations_assets.records.run import RunRecord
from translations_assets.runners.local import LocalRunner
from translations_assets.runners.slots import Slots
from translations_assets.running import runner as runner_module
from translations_assets.running.events import JobEvent, Waiting
from translations_assets.running.runner import LEFT
from translations_assets.store.local import LocalStore
from translations_assets.store.locks import acquire, release

# Runs a step as a run of its own would; SIGTERM cancels it. Prints the outcome.
RUN = """
import pathlib, signal, sys, threading
from tests.runners.scripts import attempt, job
from translations_assets.runners.local import LocalRunner
from translations_assets.store.local import LocalStore
root, script, cancel = pathlib.Path(sys.argv[1]), sys.argv[2], threading.Event()
signal.signal(signal.SIGTERM, lambda *_: cancel.set())
store, runner = LocalStore(root / "store"), LocalRunner(root / "state", cpus=2, gpus=[])
outcome = attempt(runner, job(store, script), store, cancel, lambda event: None)
print(outcome.kind, outcome.message, flush=True)
"""

# Tells its pid and its child's, then waits for the file `go`, and reports live numbers meanwhile.
SCRIPT = """
import os, pathlib, signal, subprocess, sys, time
root = pathlib.Path({root!r})
{deaf}
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with (root / "started").open("a") as file:
    print(os.getpid(), child.pid, file=file, flush=True)
with open(os.environ["TRANSLATIONS_PROGRESS"], "a") as live:
    while not (root / "go").exists():
        print('{{"update": 1}}', file=live, flush=True)
        time.sleep(0.05)
child.kill()
pathlib.Path("out").mkdir()
pathlib.Path("out/copy.txt").write_text("done")
"""


class Place:
    """A store that several runs share."""

    def __init__(self, root: Path) -> None:
        self.root, self.store = root, LocalStore(root / "store")
        self.runs: list[subprocess.Popen[str]] = []

    def run(self, deaf: bool = False) -> subprocess.Popen[str]:
        """Another run that wants the step, once it is counted."""
        wanted = self.store.owners.waiters(KEY, 1) + 1
        ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN)" if deaf else ""
        command = [sys.executable, "-c", RUN, str(self.root), SCRIPT.format(root=str(self.root), deaf=ignore)]
        self.runs.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True))
        assert eventually(lambda: self.store.owners.waiters(KEY, 1) == wanted)
        return self.runs[-1]

    def script(self) -> tuple[int, int]:
        """(script, its child), once they run; the step was started once."""
        assert eventually(lambda: (self.root / "started").exists() and self._lines() != [])
        ((script, child),) = self._lines()
        return script, child

    def _lines(self) -> list[tuple[int, int]]:
        lines = (line.split() for line in (self.root / "started").read_text().splitlines())
        return [(int(script), int(child)) for script, child in lines]

    def slots_held(self) -> int:
        """Number of CPU slots that are taken."""
        held = 0
        for number in range(2):
            path = self.root / "state" / "slots" / f"cpu.{number}"
            descriptor = acquire(path)
            held += descriptor is None
            if descriptor is not None:
                release(path, descriptor)
        return held


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """An empty store; whatever still runs in it is ended."""
    place = Place(tmp_path)
    yield place
    for run in place.runs:
        run.kill()
        run.communicate()
    assert eventually(lambda: processes_of(tmp_path / "store") == [])


def outcome(run: subprocess.Popen[str]) -> str:
    """Outcome of a run."""
    return run.communicate(timeout=PATIENCE)[0].split()[0]


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_step_goes_on_for_the_run_that_still_waits(place: Place, how: signal.Signals) -> None:
    first = place.run()
    script, _ = place.script()
    second = place.run()
    first.send_signal(how)
    if how == signal.SIGTERM:
        assert outcome(first) == "cancelled"
    first.wait()
    time.sleep(2.5)  # two looks at who waits
    assert alive(script)
    assert place.slots_held() == 1
    (place.root / "go").touch()
    assert outcome(second) == "done"
    assert place.script()[0] == script, "it was not started again"
    assert place.store.latest(KEY) is not None
    assert eventually(lambda: place.slots_held() == 0 and leftovers(place.store.root) == [])


@pytest.mark.slow
@pytest.mark.parametrize("how", [(signal.SIGTERM, signal.SIGTERM), (signal.SIGKILL, signal.SIGTERM)])
@pytest.mark.parametrize("deaf", [False, True])
def test_a_step_that_no_run_waits_for_any_more_ends(
    place: Place, how: tuple[signal.Signals, signal.Signals], deaf: bool
) -> None:
    runs = [place.run(deaf)]
    pids = place.script()
    runs.append(place.run(deaf))
    for run, number in zip(runs, how, strict=True):
        run.send_signal(number)
    assert outcome(runs[1]) == "cancelled"
    assert eventually(lambda: not any(map(alive, pids)))
    assert eventually(lambda: processes_of(place.store.root) == [])
    assert eventually(lambda: place.slots_held() == 0), "the worker has ended"
    assert place.store.latest(KEY) is None


def test_the_run_that_waits_is_cancelled_and_the_step_goes_on(place: Place) -> None:
    first = place.run()
    script, _ = place.script()
    second = place.run()
    second.send_signal(signal.SIGTERM)
    assert outcome(second) == "cancelled"
    assert alive(script)
    (place.root / "go").touch()
    assert outcome(first) == "done"


def test_a_cancelled_run_that_asks_again_gets_the_result(place: Place) -> None:
    first = place.run()
    script, _ = place.script()
    second = place.run()
    first.send_signal(signal.SIGTERM)
    assert outcome(first) == "cancelled"
    again = place.run()
    (place.root / "go").touch()
    assert [outcome(run) for run in (second, again)] == ["done", "done"]
    assert place.script()[0] == script


def test_a_run_that_finds_every_slot_taken_says_for_whom_it_waits(place: Place) -> None:
    """By the very step that it wants: it leaves the queue for slots, and takes the result."""
    store, runner = place.store, LocalRunner(place.root / "state", cpus=2, gpus=[])
    work, events, cancel = job(store, COPY), list[JobEvent](), threading.Event()
    store.write_run("run-a", RunRecord("run-a", "en-eo.tiny", "ann", begun={work.label: work.step}))
    with store.owners.lock(*work.step), held(Slots(place.root / "state" / "slots", 2, []), 2, 0, cancel):

        def note(event: JobEvent) -> None:
            events.append(event)
            cancel.set()

        assert attempt(runner, work, store, cancel, note).kind == "cancelled"
    message = "waits for run run-a of en-eo.tiny (ann), which is already making it"
    assert events == [Waiting(message)]


def test_a_step_that_waits_for_another_of_its_run_says_so(place: Place) -> None:
    """Both have the same key: one script makes what both are."""
    store, runner = place.store, LocalRunner(place.root / "state", cpus=2, gpus=[])
    work, told, cancel = job(store, COPY), list[JobEvent](), threading.Event()
    begun = {"its-twin": work.step, work.label: work.step}
    store.write_run(work.provenance.run, RunRecord(work.provenance.run, "en-eo.tiny", "ann", begun=begun))
    with store.owners.lock(*work.step), held(Slots(place.root / "state" / "slots", 2, []), 2, 0, cancel):

        def note(event: JobEvent) -> None:
            told.append(event)
            cancel.set()

        assert attempt(runner, work, store, cancel, note).kind == "cancelled"
    assert told == [Waiting("waits for its-twin, which is made from the same")]


def test_a_run_that_waits_says_how_far_it_is_and_names_no_run_that_has_ended(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "TELL_SECONDS", 0.0)
    store, runner = place.store, LocalRunner(place.root / "state", cpus=2, gpus=[])
    work, told, cancel = replace(job(store, COPY), resumable=True), list[str](), threading.Event()
    begun = RunRecord("run-a", "en-eo.tiny", "ann", begun={work.label: work.step})
    store.write_run("run-a", begun)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "model").write_text("weights")
    next_events = [
        lambda: store.add_checkpoint(*work.step, "000001-update-000001200", tmp_path / "set"),
        lambda: store.write_run("run-a", replace(begun, ended=1.0)),
        cancel.set,
    ]

    def note(event: JobEvent) -> None:
        assert isinstance(event, Waiting)
        told.append(event.message)
        next_events.pop(0)()

    with store.owners.lock(*work.step), held(Slots(place.root / "state" / "slots", 2, []), 2, 0, cancel):
        assert attempt(runner, work, store, cancel, note).kind == "cancelled"
    who = "waits for run run-a of en-eo.tiny (ann), which is already making it"
    assert told == [who, f"{who}; it has saved update 1,200", f"{LEFT}; it has saved update 1,200"]
