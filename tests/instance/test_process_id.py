"""A run's process is known to be there, to be gone, or to be elsewhere."""

import os
import socket
import subprocess
import sys

from translations_assets.instance.process_id import has_ended, this_process


def test_the_name_begins_with_what_people_look_for() -> None:
    assert this_process("0123456789").startswith(f"{socket.gethostname()}:{os.getpid()} ")


def test_this_process_is_there() -> None:
    assert has_ended(this_process("run"), "run") is False


def test_a_process_that_ended_is_gone() -> None:
    code = "from translations_assets.instance.process_id import this_process; print(this_process('run'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert has_ended(done.stdout.strip(), "run") is True


def test_a_process_that_is_dead_but_not_waited_for_is_gone() -> None:
    code = "from translations_assets.instance.process_id import *; print(this_process('run'), flush=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        process.stdout.read()  # until it has ended; nobody has asked for its exit code
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert has_ended(name, "run") is True


def test_another_process_with_its_number_is_not_it() -> None:
    place, began, run = this_process("run").split()
    assert has_ended(f"{place} {int(began) - 1} {run}", "run") is True


def test_nothing_is_said_of_other_machines_and_runs() -> None:
    place, _, run = this_process("run").split()
    assert has_ended(f"elsewhere:{place.partition(':')[2]} 1 {run}", "run") is None
    assert has_ended(this_process("its-parent"), "run") is None  # a tag that Dagster copied
    assert has_ended("", "run") is None
