"""The local runner: each attempt is a worker process on this machine, as many at once as there are slots."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from translations_assets.runners.machine import Gpu, cpu_count, find_gpus
from translations_assets.runners.slots import Grant, Slots
from translations_assets.runners.wire import Busy, Request, pack_request, unpack_reply
from translations_assets.steps.errors import StoreError
from translations_assets.steps.job import Job, JobEvent, Outcome
from translations_assets.steps.protocols import Store
from translations_assets.steps.step import WorkerClass

_ROOT = Path(__file__).parents[2]  # where `translations_assets` is imported from
_CANCEL_SECONDS = 9.3  # from SIGTERM to SIGKILL of a worker, which gives its script 8
_LOOK_SECONDS = 0.2
_OWNER_SECONDS = 0.5
_CPU_WORKSPACE = 512
_GPU_SHARE = 0.75  # of a GPU's memory for Marian's workspace; models and optimiser need the rest


class LocalRunner:
    """A `Runner` on this machine.

    state  folder in which all processes of the machine share their slots
    cpus   CPU slots, by default one for each core
    gpus   GPUs, by default those that nvidia-smi finds
    """

    def __init__(self, state: Path, cpus: int | None = None, gpus: Sequence[Gpu] | None = None) -> None:
        self._state = state
        self._cpus = cpus or cpu_count()
        self._given_gpus = gpus

    def run(
        self, job: Job, store: Store, cancel: threading.Event, on_event: Callable[[JobEvent], None]
    ) -> Outcome:
        """Run one attempt and wait for its end; see `steps.protocols.Runner`."""
        try:
            return self._run(job, store, cancel, on_event)
        except StoreError as error:
            return Outcome("temporary", message=str(error))
        except OSError as error:
            message = f"This machine cannot start a worker: {error}. State folder: {self._state}"
            return Outcome("temporary", message=message)

    def _run(
        self, job: Job, store: Store, cancel: threading.Event, on_event: Callable[[JobEvent], None]
    ) -> Outcome:
        cpus, gpus = self._need(job.worker)
        while not cancel.is_set():
            with self._slots.held(cpus, gpus, cancel) as grant:
                if grant is None:
                    break
                reply = self._attempt(job, store, grant, cancel, on_event)
            if isinstance(reply, Outcome):
                return reply
            if outcome := _wait_for_owner(job, store, cancel):
                return outcome
        return Outcome("cancelled", message="cancelled before it began")

    @cached_property
    def _gpus(self) -> dict[str, Gpu]:
        gpus = find_gpus(os.environ) if self._given_gpus is None else self._given_gpus
        return {gpu.id: gpu for gpu in gpus}

    @cached_property
    def _slots(self) -> Slots:
        return Slots(self._state / "slots", self._cpus, list(self._gpus))

    def _need(self, worker: WorkerClass) -> tuple[int, int]:
        """(CPU slots, GPU slots) of a worker class; without GPUs what wants one gets all CPU slots.

        A GPU comes with its share of the CPUs, for the programs that feed it.
        """
        if worker == "cpu":
            return 1, 0
        if worker == "large-cpu" or not self._gpus:
            return self._cpus, 0
        gpus = len(self._gpus) if worker == "large-gpu" else 1
        return max(1, self._cpus * gpus // len(self._gpus)), gpus

    def _attempt(
        self,
        job: Job,
        store: Store,
        grant: Grant,
        cancel: threading.Event,
        on_event: Callable[[JobEvent], None],
    ) -> Outcome | Busy:
        with tempfile.TemporaryFile() as errors, _worker(grant, errors) as process:
            _send(process, pack_request(self._request(job, store, grant)))
            reply = _follow(process, cancel, on_event)
            process.wait()
            if cancel.is_set() and not (isinstance(reply, Outcome) and reply.kind == "done"):
                return Outcome("cancelled", message="ended because the run was cancelled")
            return reply or _died(process.returncode, errors)

    def _request(self, job: Job, store: Store, grant: Grant) -> Request:
        memory = min((self._gpus[name].memory for name in grant.gpus), default=None)
        return Request(
            job=job,
            store=store.url,
            work=str(self._work_root(store.url)),
            threads=len(grant.cpus),
            gpus=grant.gpus,
            workspace=_CPU_WORKSPACE if memory is None else int(memory * _GPU_SHARE),
        )

    def _work_root(self, url: str) -> Path:
        """Work folders stand in a local store's own file system, so that files are linked, not copied."""
        if url.startswith("file://"):
            return Path(unquote(urlsplit(url).path)) / "work"
        return self._state / "work"


@contextmanager
def _worker(grant: Grant, errors: IO[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """A worker process that holds the slots as well; ended, with its script, when the block is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "translations_assets.runners.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        pass_fds=grant.descriptors,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(_import_path()), "PYTHONSAFEPATH": "1"},
        start_new_session=True,  # Ctrl-C in a terminal is for us, who then cancel in order
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process
    finally:
        with suppress(OSError):
            process.stdin.close()  # its life line
        process.stdout.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_CANCEL_SECONDS)
        process.kill()
        process.wait()


def _import_path() -> list[str]:
    earlier = os.environ.get("PYTHONPATH")
    return [str(_ROOT), earlier] if earlier else [str(_ROOT)]


def _send(process: subprocess.Popen[bytes], request: bytes) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it died at once: seen when its replies are read
        process.stdin.write(request)
        process.stdin.flush()


def _follow(
    process: subprocess.Popen[bytes], cancel: threading.Event, on_event: Callable[[JobEvent], None]
) -> Outcome | Busy | None:
    """Hand on the worker's events until it closes its output; its last word, None when it died without."""
    last: Outcome | Busy | None = None
    for line in _lines(process, cancel):
        reply = unpack_reply(line)
        if isinstance(reply, JobEvent):
            on_event(reply)
        else:
            last = reply
    return last


def _lines(process: subprocess.Popen[bytes], cancel: threading.Event) -> Iterator[bytes]:
    """The worker's lines. When cancelled, tells it to end, and kills it when it takes too long."""
    assert process.stdout is not None
    descriptor = process.stdout.fileno()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    rest, deadline = b"", None
    while True:
        if cancel.is_set() and deadline is None:
            deadline = time.monotonic() + _CANCEL_SECONDS
            process.terminate()
        if deadline is not None and time.monotonic() > deadline:
            process.kill()
        if poll.poll(_LOOK_SECONDS * 1000):
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                return
            *whole, rest = (rest + piece).split(b"\n")
            yield from whole


def _wait_for_owner(job: Job, store: Store, cancel: threading.Event) -> Outcome | None:
    """Wait, without a slot, while another worker owns the step; its result, None when there is none."""
    while not cancel.wait(_OWNER_SECONDS):
        if manifest := store.generation(job.key, job.generation):
            return Outcome("done", manifest)
        with store.lock(job.key, job.generation) as free:
            if free:
                return None
    return None


def _died(code: int, errors: IO[bytes]) -> Outcome:
    """What it means that a worker ended without a word."""
    errors.seek(0)
    tail = errors.read().decode(errors="replace")[-4096:]
    if code < 0:
        return Outcome("temporary", message=f"the worker was killed (signal {-code})", log_tail=tail)
    return Outcome("failed", message=f"the worker did not work (exit code {code})", log_tail=tail)
