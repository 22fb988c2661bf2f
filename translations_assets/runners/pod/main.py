"""The worker of a pod or of a job of Slurm: makes the attempts of a request one after the other and says how
each ended.

    python -m translations_assets.runners.pod.main REQUEST_FILE

Standard output has the scripts' logs, for people. The exit code is 0 when every job is done, 75 when the
worst of them is worth another attempt, else 1. Told to end (SIGTERM: its machine is taken away), it lets the
script of the moment save what it can, keeps that, and leaves the other jobs.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from translations_assets.common.errors import TranslationsError
from translations_assets.runners.control import Control
from translations_assets.runners.machine import Gpu, allotted_cpus, allotted_memory, find_gpus, workspace
from translations_assets.runners.wire import (
    LAST_WORDS,
    NODE,
    POD,
    Ending,
    PodRequest,
    Request,
    pack_reply,
)
from translations_assets.runners.worker import make_attempt
from translations_assets.running.job import Job, Outcome
from translations_assets.store.open import open_store

SAVING_SHARE = 0.4  # of a pod's time to end, for a script to save what it has; the rest is for storing that
_MOST_LAST_WORDS = 4096  # that a kubelet takes


def main() -> None:
    """Make the attempts; the exit code is their outcome."""
    request = PodRequest.from_bytes(Path(sys.argv[1]).read_bytes())
    sys.exit(exit_code(make_attempts(request, Control())))


def make_attempts(request: PodRequest, control: Control) -> list[Ending]:
    """Make one attempt of each job, in order, and leave word of each for the cluster; how they ended."""
    gpus, wrong = _find_gpus(request)
    endings: list[Ending] = []
    for job in request.jobs:
        control.next_job()
        endings.append(_refusal(request, gpus, wrong, control) or _attempt(request, job, gpus, control))
        leave_word(endings, os.environ.get(LAST_WORDS, ""))
    return endings


def exit_code(endings: Sequence[Ending]) -> int:
    """0 when every job is done, 75 when the worst is worth another attempt, else 1."""
    kinds = {ending.kind if isinstance(ending, Outcome) else "temporary" for ending in endings}
    if kinds <= {"done"}:
        return 0
    return os.EX_TEMPFAIL if kinds <= {"done", "temporary"} else 1


def leave_word(endings: Sequence[Ending], path: str) -> None:
    """Write for the kubelet what became of the jobs that are not done, as far as there is room.

    Where nothing is written, the kubelet takes the end of the output.
    """
    said = b""
    for number, ending in enumerate(endings):
        said += next((line for line in _words(ending, number) if len(said + line) <= _MOST_LAST_WORDS), b"")
    with suppress(OSError):
        if path and said:
            Path(path).write_bytes(said)


def _words(ending: Ending, number: int) -> Iterator[bytes]:
    """An ending that is not done as a line, first with the end of its log."""
    if not isinstance(ending, Outcome):
        yield pack_reply(ending, number)
    elif ending.kind != "done":
        for tail in (ending.log_tail[-1500:], ""):
            yield pack_reply(replace(ending, message=ending.message[:1000], log_tail=tail), number)


def _find_gpus(request: PodRequest) -> tuple[list[Gpu], str]:
    """The GPUs that the pod sees, if it is given some; and words when it is told of others."""
    try:
        return (find_gpus(os.environ) if request.gpus else []), ""
    except TranslationsError as error:
        return [], str(error)


def _refusal(request: PodRequest, gpus: Sequence[Gpu], wrong: str, control: Control) -> Outcome | None:
    """Explain why a job is not begun; None when it may begin."""
    if control.cancelled:
        return Outcome("temporary", message=f"not started: {control.cancelled}")
    if len(gpus) < request.gpus:
        seen = f"only {len(gpus)} seen" if gpus else "none is seen"
        check = wrong or (
            "check the node's driver, and device plugin or GRES (nvidia-smi has to work in the pod or job)"
        )
        given = _gpus(request.gpus)
        return Outcome(
            "temporary", message=f"the deployment gives the step {given}, and {seen} on {_node()}: {check}"
        )
    return None


def _attempt(request: PodRequest, job: Job, gpus: Sequence[Gpu], control: Control) -> Ending:
    granted = list(gpus)[: request.gpus]  # a runtime without a device plugin shows all GPUs of the node
    place = {"machine": request.machine, "pod": os.environ.get(POD, "")}
    attempt = Request(
        job=job,
        store=request.store,
        work=os.path.join(tempfile.gettempdir(), "work"),
        threads=allotted_cpus(os.environ),
        gpus=tuple(gpu.id for gpu in granted),
        workspace=workspace(granted),
        memory=allotted_memory(os.environ),
        grace=SAVING_SHARE * request.grace,
        host=_node(),
        place={name: value for name, value in place.items() if value},
        files=request.files,
        unsaved_minutes=request.unsaved_minutes,
    )
    return make_attempt(attempt, partial(_store, request.store), control, None)


_store = cache(open_store)  # one connection for all jobs


def _gpus(number: int) -> str:
    return "a GPU" if number == 1 else f"{number} GPUs"


def _node() -> str:
    return os.environ.get(NODE) or os.uname().nodename


if __name__ == "__main__":
    main()
