"""The local runner's processes: several at once, cancelled, killed, and nothing left of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.runners.scripts import COPY, KEY, alive, attempt, eventually, job, processes_of
from translations_assets.common.errors import TemporaryError
from translations_assets.runners.local import LocalRunner
from translations_assets.running.events import JobEvent, Progress, Started
from translations_assets.running.failure import told
from translations_assets.running.job import Outcome
from translations_assets.store.local import LocalStore

# Writes its pid and that of a child of its own, then waits; both ignore SIGTERM.
STUBBORN = """
    import os, pathlib, signal, subprocess, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    sets = os.environ.get("TRANSLATIONS_CHECKPOINTS")
    with open(os.environ["TRANSLATIONS_PROGRESS"], "a") as live:
        print('{"child": %d}' % child.pid, file=live, flush=True)
    time.sleep(600)
"""

# Runs a step in a process of its own, given store, state and script; prints the events, then the outcome.
ORCHESTRATOR = """
import pathlib, sys, threading
from tests.runners.scripts import attempt, job
from translations_assets.runners.local import LocalRunner
from translations_assets.store.local import LocalStore
store, state, script = LocalStore(pathlib.Path(sys.argv[1])), pathlib.Path(sys.argv[2]), sys.argv[3]
def show(event):
    print(event.kind, *(event.numbers if event.kind == "progress" else vars(event)).values(), flush=True)
outcome = attempt(LocalRunner(state, cpus=2, gpus=[]), job(store, script), store, threading.Event(), show)
print(outcome.kind, outcome.message, flush=True)
"""


def orchestrator(store: LocalStore, tmp_path: Path, script: str) -> subprocess.Popen[str]:
    """Another process that runs a step by a runner of its own."""
    command = [sys.executable, "-c", ORCHESTRATOR, str(store.root), str(tmp_path / "state"), script]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


class Running:
    """A step that runs in a thread; `script` and `child` are the pids of STUBBORN and its child."""

    def __init__(self, runner: LocalRunner, store: LocalStore, script: str) -> None:
        self.cancel = threading.Event()
        self.events: list[JobEvent] = []
        self._pool = ThreadPoolExecutor(1)
        self._outcome = self._pool.submit(
            attempt, runner, job(store, script), store, self.cancel, self.events.append
        )

    def pids(self) -> tuple[int, int]:
        """(script, child), once both run."""
        assert eventually(lambda: len(self.events) >= 2), self.events
        started, told = self.events[:2]
        assert isinstance(started, Started)
        assert isinstance(told, Progress)
        return started.pid, told.numbers["child"]

    def has_ended(self) -> bool:
        """True if it has an outcome."""
        return self._outcome.done()

    def outcome(self) -> Outcome:
        """Outcome of the attempt."""
        with self._pool:
            return self._outcome.result(timeout=PATIENCE)


def parent(pid: int) -> int:
    """The pid of a process's parent."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_cancelling_ends_a_script_that_ignores_sigterm(runner: LocalRunner, store: LocalStore) -> None:
    running = Running(runner, store, STUBBORN)
    script, child = running.pids()
    running.cancel.set()
    outcome = running.outcome()
    assert outcome.kind == "cancelled"
    assert not alive(script)
    assert not alive(child)
    assert list((store.root / "work").iterdir()) == []
    assert store.latest(KEY) is None


SAVES = """
    import os, pathlib, signal, sys, time
    def save(*_):
        new = pathlib.Path(os.environ["TRANSLATIONS_CHECKPOINTS"]) / "000100"
        new.mkdir()
        (new / "model.npz").write_text("m")
        pathlib.Path("out").mkdir()
        pathlib.Path("out/copy.txt").write_text("not trained to the end")
        sys.exit(0)
    signal.signal(signal.SIGTERM, save)
    print("ready", file=open(os.environ["TRANSLATIONS_PROGRESS"], "w"))
    time.sleep(600)
"""


@pytest.mark.parametrize("is_late", [False, True])
def test_cancelling_lets_a_script_save_its_checkpoint(
    runner: LocalRunner, store: LocalStore, tmp_path: Path, is_late: bool
) -> None:
    """The script ends with 0, as Marian does when told to stop: that is no result.

    A worker that gets no processor for so long that the run has ended stores what its script has saved.
    """
    cancel, events = threading.Event(), list[JobEvent]()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(attempt, runner, job(store, SAVES, resumable=True), store, cancel, events.append)
        assert eventually(lambda: any((store.root / "work").glob("*/progress.jsonl")))
        time.sleep(0.2)
        (started,) = (event for event in events if isinstance(event, Started))
        worker = parent(started.pid)
        if is_late:
            os.kill(worker, signal.SIGSTOP)
        cancel.set()
        try:
            assert future.result(timeout=PATIENCE).kind == "cancelled"
        finally:
            if is_late:
                os.kill(worker, signal.SIGCONT)
    assert eventually(lambda: bool(store.checkpoints(KEY, 1)))
    assert eventually(lambda: not store.owners.is_owned(KEY, 1))
    assert store.latest(KEY) is None
    assert store.place_checkpoints(KEY, 1, tmp_path) == ["000100"]


def test_cancelling_before_a_slot_is_free(runner: LocalRunner, store: LocalStore) -> None:
    running = Running(runner, store, STUBBORN)
    running.pids()
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    waiting = job(store, COPY, key="cd" * 32, worker="large-cpu")
    assert attempt(runner, waiting, store, cancel, lambda event: None).kind == "cancelled"
    assert not running.has_ended(), "it was cancelled although no slot became free"
    running.cancel.set()
    assert running.outcome().kind == "cancelled"


def test_sigterm_of_the_worker_is_another_attempts_chance(runner: LocalRunner, store: LocalStore) -> None:
    script = """
    import os, time
    print('{"child": 0}', file=open(os.environ["TRANSLATIONS_PROGRESS"], "w"))
    time.sleep(600)
    """
    running = Running(runner, store, script)
    pid, _ = running.pids()
    os.kill(parent(pid), signal.SIGTERM)
    outcome = running.outcome()
    assert outcome.kind == "temporary"
    assert "SIGTERM" in outcome.message
    assert not alive(pid)


def test_a_step_that_ends_well_because_the_machine_goes_away_is_not_done(
    runner: LocalRunner, store: LocalStore
) -> None:
    """SIGTERM of the worker, as of a pod; the script takes it for its own end, and leaves its outputs."""
    script = """
    import os, pathlib, signal, sys, time
    def finish(*_):
        pathlib.Path("out").mkdir()
        pathlib.Path("out/copy.txt").write_text("not trained to the end")
        sys.exit(0)
    signal.signal(signal.SIGTERM, finish)
    print('{"child": 0}', file=open(os.environ["TRANSLATIONS_PROGRESS"], "w"), flush=True)
    time.sleep(600)
    """
    running = Running(runner, store, script)
    pid, _ = running.pids()
    os.kill(parent(pid), signal.SIGTERM)
    assert running.outcome().kind == "temporary"
    assert store.latest(KEY) is None


def test_kill_9_of_the_worker_leaves_no_process_and_the_next_run_succeeds(
    runner: LocalRunner, store: LocalStore
) -> None:
    running = Running(runner, store, STUBBORN)
    script, child = running.pids()
    os.kill(parent(script), signal.SIGKILL)
    outcome = running.outcome()
    assert outcome.kind == "temporary"
    assert "the worker was killed" in outcome.message
    assert eventually(lambda: not alive(script) and not alive(child))
    assert [path.name for path in (store.root / "work").iterdir()] != [], "its work folder is still there"
    again = attempt(runner, job(store, COPY), store, threading.Event(), lambda event: None)
    assert again.kind == "done"
    assert list((store.root / "work").iterdir()) == [], "the next start has swept it"


@pytest.mark.slow
def test_kill_9_of_the_orchestrator_leaves_no_process_and_the_next_run_succeeds(
    runner: LocalRunner, store: LocalStore, tmp_path: Path
) -> None:
    other = orchestrator(store, tmp_path, STUBBORN)
    assert other.stdout is not None
    with other.stdout:
        script = int(other.stdout.readline().split()[1])
        child = int(other.stdout.readline().split()[1])
        worker = parent(script)
        other.kill()
        other.wait()
    assert eventually(lambda: not any(map(alive, (worker, script, child))))
    assert eventually(lambda: processes_of(store.root) == [])
    assert attempt(runner, job(store, COPY), store, threading.Event(), lambda event: None).kind == "done"


def test_kill_9_of_orchestrator_worker_and_script_at_once(
    runner: LocalRunner, store: LocalStore, tmp_path: Path
) -> None:
    """The script's child is left alone with nobody to end it but the kernel or the next start."""
    other = orchestrator(store, tmp_path, STUBBORN)
    assert other.stdout is not None
    with other.stdout:
        script = int(other.stdout.readline().split()[1])
        child = int(other.stdout.readline().split()[1])
        for pid in (script, parent(script), other.pid):
            os.kill(pid, signal.SIGKILL)
        other.wait()
    assert attempt(runner, job(store, COPY), store, threading.Event(), lambda event: None).kind == "done"
    assert not alive(child)
    assert processes_of(store.root) == []


def test_two_runners_on_one_step_run_it_once(store: LocalStore, tmp_path: Path) -> None:
    script = f"""
    import pathlib, time
    with open({str(tmp_path / "ran")!r}, "a") as ran:
        ran.write("x")
    time.sleep(1)
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text("done")
    """
    runners = [orchestrator(store, tmp_path, script) for _ in range(3)]
    ends = [other.communicate(timeout=60)[0].split()[-1] for other in runners]
    assert ends == ["done", "done", "done"]
    assert (tmp_path / "ran").read_text() == "x"


def test_who_waits_for_an_owner_holds_no_slot(runner: LocalRunner, store: LocalStore, tmp_path: Path) -> None:
    """The owner works elsewhere (here: nobody does, the lock is held); both slots stay free for others."""
    cancel = threading.Event()
    with ThreadPoolExecutor(2) as pool, store.owners.lock(KEY, 1) as owner:
        assert owner
        waiting = [
            pool.submit(attempt, runner, job(store, COPY), store, cancel, lambda event: None)
            for _ in range(2)
        ]
        time.sleep(2)
        both = job(store, COPY, key="cd" * 32, worker="large-cpu")
        assert attempt(runner, both, store, threading.Event(), lambda event: None).kind == "done"
        assert not any(future.done() for future in waiting)
        cancel.set()
        assert [future.result(timeout=PATIENCE).kind for future in waiting] == ["cancelled", "cancelled"]


def test_a_listener_that_fails_ends_the_script(runner: LocalRunner, store: LocalStore) -> None:
    pids: list[int] = []

    def fail(event: JobEvent) -> None:
        assert isinstance(event, Started)
        pids.append(event.pid)
        raise RuntimeError("the listener failed")

    script = "import time; time.sleep(600)"
    with pytest.raises(RuntimeError, match="the listener failed"):
        attempt(runner, job(store, script), store, threading.Event(), fail)
    assert not alive(pids[0])


def test_a_worker_that_cannot_start_says_why(
    runner: LocalRunner, store: LocalStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.stderr.write('no such thing'); sys.exit(3)")
    work = job(store, COPY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    outcome = attempt(runner, work, store, threading.Event(), lambda event: None)
    assert outcome.kind == "failed"
    assert "exit code" in outcome.message
    assert "no such thing" in outcome.log_tail


def test_a_traceback_begins_in_the_script(runner: LocalRunner, store: LocalStore) -> None:
    script = """
    def divide(number):
        return number / 0

    divide(1)
    """
    outcome = attempt(runner, job(store, script), store, threading.Event(), lambda event: None)
    assert told("copy-en", outcome).startswith(
        "The step copy-en failed: ZeroDivisionError: division by zero\n"
        "pipeline.script ended with exit code 1. Before that:\n"
    )
    frames = re.findall(r'File "(.*)", line .*, in (.*)', outcome.log_tail)
    assert [(Path(file).name, name) for file, name in frames] == [
        ("script.py", "<module>"),
        ("script.py", "divide"),
    ]


def test_many_steps_never_hold_more_slots_than_there_are(store: LocalStore, tmp_path: Path) -> None:
    """Two runners, as two processes would have them, share the slots of one state folder."""
    script = f"""
    import os, pathlib, time
    running = pathlib.Path({str(tmp_path / "running")!r})
    mine = running / str(os.getpid())
    mine.write_text(os.environ["TRANSLATIONS_THREADS"])
    time.sleep(0.15)
    threads = []
    for path in running.iterdir():
        try:
            threads.append(int(path.read_text() or 0))
        except FileNotFoundError:  # of one that has just ended
            pass
    mine.unlink()
    pathlib.Path("out").mkdir()
    pathlib.Path("out/copy.txt").write_text(str(sum(threads)))
    """
    (tmp_path / "running").mkdir()
    runners = [LocalRunner(tmp_path / "state", cpus=2, gpus=[]) for _ in range(2)]
    jobs = [
        job(store, script, key=f"{number:064x}", worker="large-cpu" if number % 5 == 0 else "cpu")
        for number in range(12)
    ]
    with ThreadPoolExecutor(12) as pool:
        outcomes = list(
            pool.map(
                lambda n: attempt(runners[n % 2], jobs[n], store, threading.Event(), lambda event: None),
                range(12),
            )
        )
    used = [int(store.read_blob(o.manifest.outputs["copy.txt"])) for o in outcomes if o.manifest is not None]
    assert len(used) == 12
    assert max(used) == 2


def test_a_state_folder_that_cannot_be_used_is_told(store: LocalStore, tmp_path: Path) -> None:
    (tmp_path / "state" / "slots" / "cpu.0").mkdir(parents=True)
    runner = LocalRunner(tmp_path / "state", cpus=1, gpus=[])
    with pytest.raises(TemporaryError, match=str(tmp_path / "state")):
        attempt(runner, job(store, COPY), store, threading.Event(), lambda event: None)


# Has 300 steps wait for one slot where 100 open files are usual; prints how many wait, in how many threads.
MANY = """
import pathlib, resource, sys, threading
from dataclasses import replace
from functools import partial
from tests.runners.scripts import job
from translations_assets.common.background import CLOCK
from translations_assets.runners.local import LocalRunner
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Tasks
from translations_assets.store.local import LocalStore

resource.setrlimit(resource.RLIMIT_NOFILE, (100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
root, cancel, started = pathlib.Path(sys.argv[1]), threading.Event(), threading.Event()
store, runner = LocalStore(root / "store"), LocalRunner(root / "state", cpus=1, gpus=[])
work = job(store, "import time; time.sleep(600)")
with CLOCK.pool(4, "step") as pool:
    tasks, outcomes = Tasks(pool, CLOCK), []

    def pass_time():
        tasks.changed.wait(min(tasks.pause, 0.5))
        outcomes.extend(outcome.kind for _, outcome in tasks.advance())

    def begin(step, wake):
        return runner.run(Submission(step, store, cancel, lambda event: started.set(), wake))

    for number in range(300):
        step = replace(work, key=f"{number:064x}")
        tasks.add(number, partial(begin, step))
    while not started.is_set() or len(list((root / "store" / "tmp").glob("*-waits-for-*"))) < 300:
        pass_time()
    print(len(tasks), threading.active_count(), outcomes)
    cancel.set()
    tasks.wake()
    while tasks:
        pass_time()
    print(set(outcomes))
"""


def test_steps_that_wait_need_no_threads_and_may_be_many(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MANY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "300 6 []\n{'cancelled'}\n", "this thread, the pool's, and one for the worker"
