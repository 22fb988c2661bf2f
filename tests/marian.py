"""Marian itself, run by hand beside the scripts that run it."""

import subprocess
from collections.abc import Sequence

from pipeline.common.resources import marian_command


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
