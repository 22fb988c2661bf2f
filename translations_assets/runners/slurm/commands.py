"""Slurm's commands, here or where a prefix takes them; and the words in which they fail."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeVar

from translations_assets.common.errors import TemporaryError, TranslationsError

AWAY_SECONDS = 900.0  # a controller that is away so long is given up
_FIRST_PAUSE, _LAST_PAUSE = 1.0, 15.0
_COMMAND_SECONDS = 60.0  # after which a command is taken for one that hangs
_SSH_FAILED = 255
_OPTIONS = (
    *("SBATCH_", "SQUEUE_", "SACCT_", "SLURM_JOB", "SLURM_MEM", "SLURM_CPU", "SLURM_GPU", "SLURM_NTASKS"),
    *("SLURM_TRES", "SLURM_TIME_FORMAT"),
)
# The controller, its network or munge: they come back
_AWAY = re.compile(
    r"Unable to contact slurm controller|Socket timed out|Connection (?:refused|reset|timed out)"
    r"|Zero Bytes were transmitted|Unexpected message received|Communication connection failure"
    r"|[Mm]unge|authentication (?:error|credential)|temporarily unable to accept|Transport endpoint"
    r"|Slurmctld is in standby|backup controller|Resource temporarily unavailable|Insane message length"
)
# As many jobs as a person may have; and partitions that take none at the moment
_FULL = re.compile(
    r"violates accounting/QOS policy|[Mm]ax\w*(?:Submit)?Job|submit limit"
    r"|Required partition not available|partition.* (?:inactive|down|drain)",
)


T = TypeVar("T")


class SlurmError(TranslationsError):
    """Slurm refuses what it was asked for."""


class SlurmAway(SlurmError, TemporaryError):
    """Slurm cannot be reached, or cannot answer; that may pass."""


class SlurmFull(SlurmError):
    """Slurm takes no further job at the moment: a limit of jobs is reached, or a partition is down."""


class SlurmCommands:
    """Runs commands and counts them.

    prefix  a command that is given a command line as its last word; empty: commands run here

    counts   of the commands that were run, by their names
    trouble  what has kept Slurm from answering when it was waited for
    """

    def __init__(self, prefix: Sequence[str] = ()) -> None:
        self._prefix = tuple(prefix)
        self._lock = threading.Lock()
        self.counts = Counter[str]()
        self.trouble = ""

    def run(self, *command: str, text: str = "", seconds: float = _COMMAND_SECONDS) -> str:
        """Run a command, given a text, and return its output. Raises SlurmAway, SlurmFull, or SlurmError."""
        with self._lock:
            self.counts[command[0]] += 1
        words = (*self._prefix, shlex.join(command)) if self._prefix else command
        where = f" by `{shlex.join(self._prefix)}`" if self._prefix else ""
        try:
            done = subprocess.run(
                words,
                input=text,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
                env={name: value for name, value in os.environ.items() if not _changes_options(name)},
                start_new_session=True,  # Ctrl-C is for this process, which then cancels in order
            )
        except subprocess.TimeoutExpired as error:
            raise SlurmAway(f"{command[0]}{where} has not answered for {seconds:.0f} s.") from error
        except OSError as error:
            raise SlurmError(
                f"{words[0]} cannot be run: {error.strerror}. Run this where Slurm's commands are, or give "
                "slurm.command in the deployment file, such as [ssh, login1]."
            ) from error
        if done.returncode:
            away = bool(self._prefix) and done.returncode == _SSH_FAILED
            raise failure(command[0], done.returncode, done.stderr or done.stdout, away=away)
        return done.stdout

    def patiently(self, action: Callable[[], T], closed: threading.Event) -> T:
        """Do something again and again while Slurm is away, for 15 minutes, unless all is closed."""
        began, pause = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                return action()
            except SlurmAway as error:
                self.trouble = str(error)
                if time.monotonic() - began > AWAY_SECONDS or closed.wait(pause):
                    raise
            pause = min(2 * pause, _LAST_PAUSE)


def _changes_options(name: str) -> bool:
    """True for variables that would change what a command asks for or prints, as those of a job around us."""
    return name.startswith(_OPTIONS)


def failure(program: str, code: int, said: str, *, away: bool = False) -> SlurmError:
    """The error for what a command has said.

    away  whether it was not reached at all

    >>> failure("sbatch", 1, "sbatch: error: Batch job submission failed: Invalid feature specification")
    SlurmError('sbatch: Invalid feature specification')
    """
    lines = [_PROGRAM.sub("", line.strip()) for line in said.splitlines() if line.strip()]
    text = "; ".join(dict.fromkeys(lines)) or f"exit code {code}"
    if away or _AWAY.search(text):
        return SlurmAway(f"{program}: {text}")
    return (SlurmFull if _FULL.search(text) else SlurmError)(f"{program}: {text}")


_PROGRAM = re.compile(r"^(?:\w+: )?(?:(?:\w+ )?error: )?(?:Batch job submission failed: )?")
