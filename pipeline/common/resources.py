"""What the worker grants to a script, read from the environment; sensible values for a person's own shell."""

import os
import shlex
import sys
from pathlib import Path


def threads() -> int:
    """Threads that the script may use: TRANSLATIONS_THREADS, else all cores."""
    return int(os.environ.get("TRANSLATIONS_THREADS") or os.cpu_count() or 1)


def memory_mb() -> int:
    """Memory in MB that the script may use: TRANSLATIONS_MEMORY, else 2,000.

    Asked by scripts whose need would grow with their input; they use the disk beyond it.
    """
    return int(os.environ.get("TRANSLATIONS_MEMORY") or 2_000)


def at_once(megabytes: int, *, threads_each: int = 1, besides: int = 0) -> int:
    """How many tasks that each take so many MB may run side by side: one at least.

    Bounded by the threads and the memory that the script may use, of which it takes `besides` MB itself.
    """
    return max(1, min(threads() // threads_each, (memory_mb() - besides) // megabytes))


def gpus() -> list[int]:
    """Device ids of the GPUs that the script may use: TRANSLATIONS_GPUS, none by default."""
    return [int(device) for device in os.environ.get("TRANSLATIONS_GPUS", "").split()]


def workspace_mb() -> int:
    """Memory in MB for Marian's workspace on each device: TRANSLATIONS_WORKSPACE, else 512 (for a CPU)."""
    return int(os.environ.get("TRANSLATIONS_WORKSPACE") or 512)


def checkpoints() -> Path | None:
    """Folder of the script's checkpoint sets (TRANSLATIONS_CHECKPOINTS), None when nobody keeps them.

    It holds what earlier attempts saved, one folder a set, named so that names sort by age. A script adds a
    set under a hidden name and renames it when it is complete.
    """
    folder = os.environ.get("TRANSLATIONS_CHECKPOINTS")
    return Path(folder) if folder else None


def grace_seconds() -> float:
    """Time from a SIGTERM to the SIGKILL that follows it: TRANSLATIONS_GRACE, else six seconds."""
    return float(os.environ.get("TRANSLATIONS_GRACE") or 6)


def progress_file() -> Path | None:
    """File for live numbers, one JSON object a line (TRANSLATIONS_PROGRESS), None when nobody looks."""
    file = os.environ.get("TRANSLATIONS_PROGRESS")
    return Path(file) if file else None


def marian_command() -> list[str]:
    """The program that takes Marian's commands (train, decode, score, convert): TRANSLATIONS_MARIAN.

    It may hold arguments, quoted as in a shell. By default `pymarian` beside this Python.
    """
    command = shlex.split(os.environ.get("TRANSLATIONS_MARIAN", ""))
    return command or [str(Path(sys.executable).with_name("pymarian"))]
