"""Processes of Marian: run to their end, tried again when they crash, and their errors."""

import logging
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.marian_options import Options, write_options
from pipeline.common.processes import dying_with_parent
from pipeline.common.resources import marian_command

LOG = "marian.log"

log = logging.getLogger(__name__)

_GPU_FAILED = re.compile("CUDA|[Cc]urand|cublas|NCCL")
# CUDA's words for a GPU, or a driver, that the build has nothing for
_NO_KERNELS = re.compile(
    "no kernel image is available|unsupported toolchain|PTX JIT compiler library was not found|ARCH_MISMATCH"
)
_GPUS = (
    "Marian is built with CUDA 12.1, for GPUs of compute capability 6.0 to 9.0 (P100, V100, T4, A100, L4, "
    "H100, H200), whose driver must be as new. Take another machine, or update its driver."
)

KILLED = (-15, -9, 137, 143)

# By a signal, or by an abort, as which Marian's own errors end, too. That it finds a tensor freed is one.
CRASHED = (-11, 139)
_CRASH = re.compile(
    r"Segmentation fault|(?:free|malloc|calloc|realloc|malloc_consolidate|munmap_chunk)\(\): |double free"
    "|corrupted |De-allocated child"
)
ATTEMPTS = 3


def run_marian(command: str, options: Options, scratch: Path) -> None:
    """Run one of Marian's commands to its end, with its options in a file in `scratch`.

    A crash is tried again. Raises TemporaryError when the machine's GPU failed, the
    process was killed, or crashed every time; InputError otherwise.
    """
    for attempt in range(1, ATTEMPTS + 1):
        with running(command, options, scratch, output=None) as process:
            process.wait()
        if has_ended_well(command, process.returncode, scratch, attempt):
            return


@contextmanager
def running(
    command: str, options: Options, scratch: Path, output: int | None = subprocess.PIPE
) -> "Iterator[subprocess.Popen[bytes]]":
    """One of Marian's commands, which is ended with the block."""
    config = scratch / "marian.yml"
    write_options(config, options)
    with (
        (scratch / LOG).open("wb") as errors,
        subprocess.Popen(
            [*marian_command(), command, "--config", str(config)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            preexec_fn=dying_with_parent(),
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def has_ended_well(command: str, status: int, scratch: Path, attempt: int) -> bool:
    """Whether Marian's status is 0; raises its error unless it crashed and may try again."""
    if not status:
        return True
    said = (scratch / LOG).read_text(encoding="utf-8", errors="replace")
    if attempt == ATTEMPTS or not _crashed(status, said):
        raise marian_error(command, status, said)
    log.warning("marian %s crashed (status %d); trying again", command, status)
    return False


def marian_error(command: str, status: int, output: str) -> Exception:
    """What to raise when Marian ended with a status other than 0, from the end of its log."""
    said = [line for line in output.splitlines() if "Error" in line] or output.splitlines()[-10:]
    message = f"marian {command} failed (status {status}): " + "\n".join(said)
    if _NO_KERNELS.search(message):
        return InputError(f"{message}\n{_GPUS}")
    if status in KILLED or _crashed(status, output) or _GPU_FAILED.search(message):
        return TemporaryError(message)
    return InputError(message)


def _crashed(status: int, output: str) -> bool:
    return status in CRASHED or _CRASH.search(output) is not None
