"""Child processes end with the script that started them; signals wait for what must not be broken."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from pipeline.common.processes import dying_with_parent, kill_group, put_off

# Starts a child in a group of its own, which sleeps; tells its number; then sleeps, too.
PARENT = """
import os, subprocess, time
from pipeline.common.processes import dying_with_parent

die_with_parent = dying_with_parent()

def lead():
    die_with_parent()
    os.setpgid(0, 0)

child = subprocess.Popen(["sleep", "100"], preexec_fn=lead)
print(child.pid, flush=True)
time.sleep(100)
"""


def test_a_child_ends_when_its_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
    _, alive = psutil.wait_procs([child], timeout=30)
    assert not alive


def test_a_group_is_ended_and_one_that_is_not_there_is_no_error() -> None:
    with subprocess.Popen(["sleep", "100"], start_new_session=True) as process:
        kill_group(process.pid)
        assert process.wait(30) == -9
    kill_group(process.pid)


def test_nothing_happens_while_the_parent_lives() -> None:
    done = subprocess.run(["true"], preexec_fn=dying_with_parent(), check=False)
    assert done.returncode == 0


# A child of another process than the one that made the function, as after the death of that one.
LATE = """
import os, time
from pipeline.common.processes import dying_with_parent

die_with_parent = dying_with_parent()
if os.fork():
    os.wait()
elif child := os.fork():
    print(os.waitpid(child, 0)[1])
else:
    die_with_parent()
    time.sleep(100)
"""


def test_a_child_ends_whose_parent_died_before_it_could_say_so() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LATE], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == f"{signal.SIGKILL:d}\n"


class Stopped(Exception):
    """What the handler of these tests raises."""


@pytest.fixture
def raising() -> Iterator[None]:
    """SIGTERM raises an exception."""

    def stop(*_: object) -> None:
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    yield
    signal.signal(signal.SIGTERM, before)


def test_a_signal_that_is_put_off_comes_when_the_block_has_ended(raising: None) -> None:
    done = []

    def work() -> None:
        with put_off(signal.SIGTERM):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(0.1)
            done.append("all")

    with pytest.raises(Stopped):
        work()
    assert done == ["all"]
    with pytest.raises(Stopped):  # the handler is back
        signal.raise_signal(signal.SIGTERM)


def test_a_fork_does_not_put_signals_off(raising: None) -> None:
    with put_off(signal.SIGTERM):
        child = os.fork()
        if not child:
            signal.raise_signal(signal.SIGTERM)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 75


def test_other_threads_are_not_interrupted_anyway(raising: None) -> None:
    def work() -> None:
        with put_off(signal.SIGTERM):
            done.append(signal.getsignal(signal.SIGTERM))

    done: list[object] = []
    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(30)
    assert done == [before]
