"""Child processes end with the script that started them."""

import subprocess
import sys

import psutil

from pipeline.common.processes import die_with_parent, kill_group

# Starts a child in a group of its own, which sleeps; tells its number; then sleeps, too.
PARENT = """
import os, subprocess, time
from pipeline.common.processes import die_with_parent

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
    done = subprocess.run(["true"], preexec_fn=die_with_parent, check=False)
    assert done.returncode == 0
