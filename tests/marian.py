"""Marian itself, run by hand beside the scripts that run it."""

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence

from pipeline.common.resources import marian_command

# What the program `pymarian` does, without what its package imports: two thirds of the time of a start
_PROGRAM = "import sys, _pymarian as pymarian; sys.exit(pymarian.main(sys.argv[1:]))"


def start_sooner() -> None:
    """From now on scripts that tests run by hand start Marian so; the engine's start the program itself."""
    os.environ.setdefault("TRANSLATIONS_MARIAN", shlex.join([sys.executable, "-P", "-c", _PROGRAM]))


def run(arguments: Sequence[object], stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    """Run a command of Marian; once more when it has crashed, as it does at its end now and then."""
    for _ in range(2):
        done = subprocess.run(
            [*marian_command(), *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode >= 0:
            break
    assert done.returncode == 0, done.stderr
    return done
