"""Runs a command as a container's runtime does: when it ends, everything that it started ends with it.

    python -I -S shim.py COMMAND…

SIGTERM goes to the command alone, as from a kubelet. When standard input is closed, all is killed: so nothing
outlives the process that holds the other end. The exit code is the command's, or 128 + n after signal n.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading

PR_SET_CHILD_SUBREAPER = 36  # orphans among our descendants become our children
CANNOT_START = 128


def children() -> list[int]:
    """Our children, whoever had them first."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except OSError:  # it has just ended
            continue
        if parent == os.getpid():
            found.append(int(name))
    return found


def end_all() -> None:
    """Kill what is left; children of the killed become ours, and follow."""
    while True:
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def kill_at_end_of_input(command: subprocess.Popen[bytes]) -> None:
    """Wait until standard input is closed."""
    while os.read(0, 1):
        pass
    command.kill()


def main(arguments: list[str]) -> int:
    """Run a command and give its exit code."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    commands: list[subprocess.Popen[bytes]] = []
    asked: list[int] = []

    def terminate(number: int, _frame: object) -> None:
        asked.append(number)
        for command in commands:
            command.send_signal(number)

    signal.signal(signal.SIGTERM, terminate)
    try:
        command = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        print(f"cannot start the container: {error}", file=sys.stderr)
        return CANNOT_START
    commands.append(command)
    if asked:  # before there was a command to tell
        command.send_signal(signal.SIGTERM)
    threading.Thread(target=kill_at_end_of_input, args=(command,), daemon=True).start()
    code = command.wait()
    end_all()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    exit_code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(exit_code)  # the thread that reads need not be waited for
