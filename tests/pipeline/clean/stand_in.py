"""Stand-ins for the programs that score text, in environments that look as if made from a lock.

A stand-in takes the options of the program that it stands for, and scores a line by a checksum of its columns
in the order in which it is told to read them. It adds what it was called with to the file that STAND_IN_CALLS
names, if any. What goes wrong is asked of it by STAND_IN_WRONG.
"""

import json
import os
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from pipeline.common.environments import COMPLETE, folder_of

PROGRAM = """\
#!{python}
import json, os, sys, time, zlib

def value(option, default):
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else default

wrong, lines = os.environ.get("STAND_IN_WRONG", ""), list(sys.stdin)
devices = os.environ.get("CUDA_VISIBLE_DEVICES")
with open(os.environ.get("STAND_IN_CALLS", os.devnull), "a") as calls:
    calls.write(json.dumps({{"argv": sys.argv[1:], "devices": devices, "lines": lines}}) + "\\n")
if wrong.startswith("exit "):
    sys.stderr.write("the program's last words")
    sys.exit(int(wrong[5:]))
if wrong == "killed":
    os.kill(os.getpid(), 9)
if wrong.startswith("wait for ") and any(wrong[9:] in line for line in lines):
    time.sleep(300)
for line in lines[1:] if wrong == "a line is left out" else lines:
    columns = line.rstrip("\\n").split("\\t")
    order = [int(value("--scol", 1))] + [int(value("--tcol", 0))] * ("--tcol" in sys.argv)
    sides = [columns[column - 1] for column in order]
    score = zlib.crc32("|".join(sides).encode()) % 1001 / 1000
    text = f"{{score:.3f}}" if all(side.strip() for side in sides) else "0"
    print("no score" if wrong == "words" else text)
"""


def expected(*sides: str) -> str:
    """The score of a stand-in for the sides in the order in which it reads them."""
    score = zlib.crc32("|".join(sides).encode()) % 1001 / 1000
    return f"{score:.3f}" if all(side.strip() for side in sides) else "0"


def make_environment(folder: Path, name: str) -> tuple[Path, dict[str, str]]:
    """A lock, and the environment variables with which its environment has a stand-in called `name`."""
    lock = folder / f"{name}.lock"
    lock.write_text(f"# of {name}\n")
    add_program(folder, lock, name)
    return lock, {
        "TRANSLATIONS_ENVIRONMENTS": str(folder / "environments"),
        "STAND_IN_CALLS": str(folder / "calls"),
    }


def add_program(folder: Path, lock: Path, name: str) -> None:
    """Put a stand-in called `name` where the environment of a lock is looked for, in folder/environments."""
    made = folder / "environments" / folder_of(lock).name
    program = made / "bin" / name
    program.parent.mkdir(parents=True)
    (program.parent / "python").symlink_to(sys.executable)
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    (made / COMPLETE).touch()


def use_environment(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The lock of an environment with a stand-in, for scripts that run in this process."""
    lock, variables = make_environment(folder, name)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    return lock


def calls() -> list[dict[str, Any]]:
    """Arguments of the stand-in's calls in this process, and the lines that it was given."""
    path = Path(os.environ["STAND_IN_CALLS"])
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
