"""The local runner: each attempt is a worker process on this machine, as many at once as there are slots."""

from __future__ import annotations

import os
import resource
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote, urlsplit

from translations_assets.config.deployment import UNSAVED_MINUTES
from translations_assets.errors import TemporaryError
from translations_assets.graph.step import WorkerClass
from translations_assets.runners.machine import Gpu, cpu_count, find_gpus, workspace
from translations_assets.runners.slots import Grant, Slots
from translations_assets.runners.waiting import wait_for_owner
from translations_assets.runners.wire import Busy, Detached, Request
from translations_assets.runners.worker_process import WorkerProcess
from translations_assets.running.job import Job, JobEvent, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.tasks import Wake, Work

_OWNER_SECONDS = 0.5
_LONG_SECONDS = 60.0  # the end of an attempt wakes who waits for it


class LocalRunner:
    """A `Runner` on this machine.

    state  folder in which all processes of the machine share their slots
    cpus   CPU slots, by default one for each core
    gpus   GPUs, by default those that nvidia-smi finds
    files  folders below which files lie that file:// URLs may name, in addition to those of the mirror
    unsaved_minutes  as in `Deployment`
    """

    def __init__(
        self,
        state: Path,
        cpus: int | None = None,
        gpus: Sequence[Gpu] | None = None,
        files: Sequence[str] = (),
        unsaved_minutes: float = UNSAVED_MINUTES,
    ) -> None:
        self._state, self._files, self._unsaved_minutes = state, tuple(files), unsaved_minutes
        self._cpus = cpus or cpu_count()
        self._given_gpus = gpus

    def run(
        self,
        job: Job,
        store: Store,
        cancel: threading.Event,
        on_event: Callable[[JobEvent], None],
        wake: Wake,
    ) -> Work[Outcome]:
        """One attempt, until its end; see `running.protocols.Runner`."""
        cpus, gpus = self._need(job.worker)
        try:
            while not cancel.is_set():
                with ExitStack() as wanting:  # a worker that is let go asks who else wants the result
                    wanting.enter_context(store.waiting(job.key, job.generation))
                    with self._slots.claim(cpus, gpus, wake) as claim:
                        grant = yield from claim.acquire(cancel)
                        if grant is None:
                            break
                        attempt = self._threads.submit(
                            self._attempt, job, store, grant, cancel, on_event, wanting.close
                        )
                        attempt.add_done_callback(lambda _: wake())
                        while not attempt.done():
                            yield _LONG_SECONDS
                    reply = attempt.result()
                    if isinstance(reply, Outcome):
                        return reply
                    if outcome := (yield from wait_for_owner(job, store, cancel, _OWNER_SECONDS)):
                        return outcome
        except OSError as error:
            raise TemporaryError(
                f"This machine cannot start a worker: {error}. State folder: {self._state}"
            ) from error
        return Outcome("cancelled", message="cancelled before it began")

    @cached_property
    def _gpus(self) -> dict[str, Gpu]:
        gpus = find_gpus(os.environ) if self._given_gpus is None else self._given_gpus
        return {gpu.id: gpu for gpu in gpus}

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """What sees to the workers: one thread for each, and each has a CPU slot."""
        return ThreadPoolExecutor(self._cpus, thread_name_prefix="worker")

    @cached_property
    def _slots(self) -> Slots:
        _allow_many_files()
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
        leave: Callable[[], None],
    ) -> Outcome | Busy:
        with tempfile.TemporaryFile() as errors:
            worker = WorkerProcess(grant.descriptors, errors, leave)
            reply = worker.run(self._request(job, store, grant), cancel, on_event)
        if isinstance(reply, Detached):
            grant.leave()
            return Outcome("cancelled", message="the run was cancelled; the step goes on for others")
        if cancel.is_set() and not (isinstance(reply, Outcome) and reply.kind == "done"):
            return Outcome("cancelled", message="ended because the run was cancelled")
        return reply

    def _request(self, job: Job, store: Store, grant: Grant) -> Request:
        return Request(
            job=job,
            store=store.url,
            work=str(self._work_root(store.url)),
            threads=len(grant.cpus),
            gpus=grant.gpus,
            workspace=workspace([self._gpus[name] for name in grant.gpus]),
            files=self._files,
            unsaved_minutes=self._unsaved_minutes,
        )

    def _work_root(self, url: str) -> Path:
        """Work folders stand in a local store's own file system, so that files are linked, not copied."""
        if url.startswith("file://"):
            return Path(unquote(urlsplit(url).path)) / "work"
        return self._state / "work"


def _allow_many_files() -> None:
    """Allow this process as many open files as the system does: each step that waits holds one."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # a system that knows no limit, and sets none
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
