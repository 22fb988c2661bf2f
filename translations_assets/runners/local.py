"""The local runner: each attempt is a worker process on this machine, as many at once as there are slots."""

from __future__ import annotations

import math
import os
import resource
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from translations_assets.common.errors import TemporaryError
from translations_assets.config.deployment import UNSAVED_MINUTES
from translations_assets.graph.step import WorkerClass
from translations_assets.runners.machine import Gpu, cpu_count, find_gpus, gpus_of, script_memory, workspace
from translations_assets.runners.slots import Claim, Slots
from translations_assets.runners.wire import Detached, Ending, Request, unpack_reply
from translations_assets.running.events import JobEvent, Started
from translations_assets.running.job import Outcome
from translations_assets.running.runner import Submission, wait_for_owner
from translations_assets.running.tasks import Work

_ROOT = str(Path(__file__).parents[2])  # where `translations_assets` is imported from
_CANCEL_SECONDS = 8.0  # from closing a worker's life line to its SIGKILL; it gives its script 6
_POLL_SECONDS = 0.2
_OWNER_SECONDS = 0.5
_LOOK_SECONDS = 2.0  # between two looks, while waiting for slots, whether another worker owns the step
_LONG_SECONDS = 60.0  # the end of an attempt wakes who waits for it


@dataclass(frozen=True)
class WorkerStart:
    """How workers are started, where that is not as this process was.

    python     the interpreter of an environment with the same libraries
    threads    for each script, instead of one for each of its CPU slots
    variables  of the environment, besides those of this process
    umask      -1: that of this process
    """

    python: str = sys.executable
    threads: int | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    umask: int = -1


class LocalRunner:
    """A `Runner` on this machine.

    state  folder in which all processes of the machine share their slots
    cpus   CPU slots, by default one for each core
    gpus   GPUs, by default those that nvidia-smi finds
    files  folders below which files lie that file:// URLs may name, in addition to those of the mirror
    unsaved_minutes  as in `Deployment`
    start  how its workers are started
    """

    def __init__(
        self,
        state: Path,
        cpus: int | None = None,
        gpus: Sequence[Gpu] | None = None,
        files: Sequence[str] = (),
        unsaved_minutes: float = UNSAVED_MINUTES,
        start: WorkerStart = WorkerStart(),
    ) -> None:
        self._state, self._files, self._unsaved_minutes = state, tuple(files), unsaved_minutes
        self._start = start
        self._cpus = cpus or cpu_count()
        self._given_gpus = gpus

    def run(self, submission: Submission) -> Work[Outcome]:
        """One attempt, until its end; see `running.runner.Runner`.

        >>> work = runner.run(Submission(job, store, cancel, lambda event: print(event.kind), wake))
        >>> finish(work, wait).kind
        started
        'done'
        """
        job, store, cancel = submission.job, submission.store, submission.cancel
        cpus, gpus = self._need(job.worker)
        try:
            while not cancel.is_set():
                with ExitStack() as wanting:  # a worker that is cancelled asks whether other runs wait
                    wanting.enter_context(store.owners.waiting(*job.step))
                    with self._slots.claim(cpus, gpus, submission.wake) as claim:
                        if (yield from self._acquire(submission, claim)):
                            attempt = self._threads.submit(self._attempt, submission, claim, wanting.close)
                            attempt.add_done_callback(lambda _: submission.wake())
                            while not attempt.done():
                                yield _LONG_SECONDS
                            reply = attempt.result()
                            if isinstance(reply, Outcome):
                                return reply
                    if outcome := (yield from wait_for_owner(submission, _OWNER_SECONDS)):
                        return outcome
        except OSError as error:
            raise TemporaryError(
                f"This machine cannot start a worker: {error}. State folder: {self._state}"
            ) from error
        return Outcome("cancelled", message="cancelled before it started")

    def _acquire(self, submission: Submission, claim: Claim) -> Work[bool]:
        """Wait until all slots are held; False when cancelled before, or once another worker owns the step.

        That one may hold the very slots, for as long as the step takes.
        """
        acquiring, looked = claim.acquire(submission.cancel), -math.inf
        while True:
            try:
                pause = next(acquiring)
            except StopIteration as end:
                return bool(end.value)
            if time.monotonic() - looked > _LOOK_SECONDS:
                looked = time.monotonic()
                if submission.store.owners.is_owned(*submission.job.step):
                    return False
            yield pause

    @cached_property
    def _gpus(self) -> dict[str, Gpu]:
        gpus = find_gpus(os.environ) if self._given_gpus is None else self._given_gpus
        return {gpu.id: gpu for gpu in gpus}

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        """The pool that sees to the workers: one thread for each, and each has a CPU slot."""
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
        gpus = gpus_of(worker, len(self._gpus))
        if not gpus:
            return self._cpus, 0
        return max(1, self._cpus * gpus // len(self._gpus)), gpus

    def _attempt(self, submission: Submission, slots: Claim, leave: Callable[[], None]) -> Ending:
        url, cancel = submission.store.url, submission.cancel
        request = Request(
            job=submission.job,
            store=url,
            work=str(self._work_root(url)),
            threads=self._start.threads or len(slots.cpus),
            gpus=slots.gpus,
            workspace=workspace([self._gpus[name] for name in slots.gpus]),
            memory=script_memory() * len(slots.cpus) // self._cpus,
            files=self._files,
            unsaved_minutes=self._unsaved_minutes,
        )
        with tempfile.TemporaryFile() as errors:
            reply = WorkerProcess(submission, slots.descriptors, errors, leave, self._start).run(request)
        if isinstance(reply, Detached):
            slots.hand_over()
            message = "the run was cancelled; the step goes on for others, or ends by itself"
            return Outcome("cancelled", message=message)
        if cancel.is_set() and not (isinstance(reply, Outcome) and reply.kind == "done"):
            return Outcome("cancelled", message="ended because the run was cancelled")
        return reply

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


class WorkerProcess:
    """A worker and its life line: when that is closed, the worker ends, or goes on for other runs.

    slots   descriptors of the slots, which the worker holds as well
    errors  file for what it writes to standard error
    leave   called before the worker is cancelled, so that it does not count this run among those that wait
    """

    def __init__(
        self,
        submission: Submission,
        slots: Sequence[int],
        errors: IO[bytes],
        leave: Callable[[], None],
        start: WorkerStart,
    ) -> None:
        path = filter(None, (_ROOT, os.environ.get("PYTHONPATH")))
        self._process = subprocess.Popen(
            [start.python, "-m", "translations_assets.runners.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            pass_fds=slots,
            env={
                **os.environ,
                **start.variables,
                "PYTHONPATH": os.pathsep.join(path),
                "PYTHONSAFEPATH": "1",
            },
            umask=start.umask,
            start_new_session=True,  # Ctrl-C in a terminal is for this process, which then cancels in order
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._life_line, self._output = self._process.stdin, self._process.stdout
        self._submission, self._errors, self._leave = submission, errors, leave
        self._deadline: float | None = None
        self._saves = False  # a script runs that saves what it has when it is to end

    def run(self, request: Request) -> Ending | Detached:
        """Have it make an attempt, forward its events, and report the outcome."""
        last = None
        try:
            with suppress(BrokenPipeError):  # it died at once: seen when its replies are read
                self._life_line.write(request.to_bytes())
                self._life_line.flush()
            last = self._follow(self._submission.on_event)
        except BaseException:
            self._cancel()
            last = self._follow(lambda event: None)
            raise
        finally:
            self._close(detached=isinstance(last, Detached))
        return last or self._crashed()

    def _follow(self, on_event: Callable[[JobEvent], None]) -> Ending | Detached | None:
        """Hand on events until its last reply, or until it is left alone; None when it died without."""
        for line in self._lines():
            _, reply = unpack_reply(line)
            if not isinstance(reply, JobEvent):
                return reply
            self._saves = self._saves or (isinstance(reply, Started) and self._submission.job.resumable)
            on_event(reply)
        return Detached() if self._is_late() and self._saves else None

    def _lines(self) -> Iterator[bytes]:
        """Its lines until it closes its output, or, cancelled, takes too long: then it is killed.

        Not where its script saves: on a loaded machine it is late, and would not store what was saved in
        time. It ends its script by itself.
        """
        descriptor = self._output.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        rest = b""
        while True:
            if self._submission.cancel.is_set():
                self._cancel()
            if self._is_late():
                if self._saves:
                    return
                self._process.kill()
            if poll.poll(_POLL_SECONDS * 1000):
                piece = os.read(descriptor, 1 << 16)
                if not piece:
                    return
                *whole, rest = (rest + piece).split(b"\n")
                yield from whole

    def _is_late(self) -> bool:
        """True if it was cancelled, and should have ended."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def _cancel(self) -> None:
        if self._deadline is None:
            self._deadline = time.monotonic() + _CANCEL_SECONDS
            self._leave()
            with suppress(OSError):
                self._life_line.close()

    def _close(self, *, detached: bool) -> None:
        """Wait for its end, unless it goes on without this process."""
        if detached:
            threading.Thread(target=self._process.wait, name="reap", daemon=True).start()
        else:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_CANCEL_SECONDS)
            self._process.kill()
            self._process.wait()
        with suppress(OSError):
            self._life_line.close()
        self._output.close()

    def _crashed(self) -> Outcome:
        """Return the outcome of a worker that ended without a reply."""
        code = self._process.returncode
        self._errors.seek(0)
        tail = self._errors.read().decode(errors="replace")[-4096:]
        if code < 0:
            return Outcome("temporary", message=f"the worker was killed (signal {-code})", log_tail=tail)
        return Outcome("failed", message=f"the worker failed (exit code {code})", log_tail=tail)
