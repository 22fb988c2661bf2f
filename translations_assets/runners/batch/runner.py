"""A runner whose attempts are batch jobs, found again by a run that asks for the same step."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from typing import Any, Generic, TypeVar

from translations_assets.runners.batch.member import member
from translations_assets.runners.batch.silence import Words, heard_of
from translations_assets.runners.batch.waited_job import Grouped, WaitedJob
from translations_assets.runners.wire import Busy
from translations_assets.running.job import Job, Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission, wait_for_owner
from translations_assets.running.tasks import Work

_CONNECT_SECONDS = 0.05
_OWNER_SECONDS = 5.0

C = TypeVar("C")  # a connection
J = TypeVar("J", bound=WaitedJob)


def print_line(label: str, line: bytes) -> None:
    """Write a line of a step's log to standard output, where Dagster keeps it with the run."""
    sys.stdout.write(f"[{label}] {line.decode(errors='replace')}\n")  # in one piece: many threads write
    sys.stdout.flush()


class BatchRunner(ABC, Generic[C, J]):
    """A `Runner` on a cluster. Nothing is imported or connected before the first step runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[tuple[str, int], J] = {}  # by each step that waits, or may, for one
        self._joinable: dict[Grouped, J] = {}  # those that steps may join
        self._closed, self._words = threading.Event(), Words()
        self._connection: Future[C] | None = None

    @abstractmethod
    def _open(self, store: Store) -> C:
        """Connect. Raises what keeps that from being done."""

    @abstractmethod
    def _silence(self, connection: C | None) -> str:
        """Explain that the cluster does not answer; empty where it does. None while it is being connected."""

    @abstractmethod
    def _live(self, connection: C, store: Store, step: tuple[str, int]) -> Iterator[Any]:
        """The jobs that make a step now, for `_make`; each has a name."""

    @abstractmethod
    def _group(self, connection: C, store: Store, job: Job) -> Grouped:
        """The steps that a step may share a job with."""

    @abstractmethod
    def _make(self, connection: C, store: Store, source: Any) -> J:
        """A job to wait for: one that is there, or a new one for a group."""

    def run(self, submission: Submission) -> Work[Outcome]:
        """One attempt, until its end; see `running.runner.Runner`."""
        return heard_of(self._run, submission, partial(self._waits_for, submission.job.step), self._words)

    def _run(self, submission: Submission) -> Work[Outcome]:
        job, store, cancel = submission.job, submission.store, submission.cancel
        with ExitStack() as wanting:
            wanting.enter_context(store.owners.waiting(*job.step))
            connection = yield from self._connect(store, cancel)
            while connection and not cancel.is_set():
                if manifest := store.generation(*job.step):
                    return Outcome("done", manifest)
                waited = self._board(connection, submission)
                try:
                    ending = yield from waited.ending(submission)
                finally:
                    if cancel.is_set():
                        wanting.close()
                    waited.leave(submission)
                if isinstance(ending, Busy):
                    if next(self._live(connection, store, job.step), None):
                        continue  # it makes the step, or has just ended
                    if outcome := (yield from wait_for_owner(submission, _OWNER_SECONDS)):
                        return outcome
                elif ending and (ending.kind != "temporary" or member(job) in waited.members):
                    return ending
                # else an earlier run's attempt has ended, and this one begins
        return Outcome("cancelled", message="the run was cancelled")

    def _waits_for(self, step: tuple[str, int]) -> str:
        """Describe what a step waits for; empty where nothing is the matter."""
        opened = self._connection
        is_open = opened is not None and opened.done() and not opened.exception()
        if text := self._silence(opened.result() if opened and is_open else None):
            return text
        waited = self._jobs.get(step)
        return waited.waits_for if waited else ""

    def close(self) -> None:
        """Stop watching the cluster; its jobs continue. Threads end at their next try, within a minute."""
        self._closed.set()

    def _connect(self, store: Store, cancel: threading.Event) -> Work[C | None]:
        """The cluster; connecting takes as long as it is away. None when cancelled meanwhile."""
        with self._lock:
            if self._connection is None or (self._connection.done() and self._connection.exception()):
                self._connection = Future()
                arguments = (self._connection, store)
                threading.Thread(
                    target=self._try_to_open, args=arguments, name="connect", daemon=True
                ).start()
            connection = self._connection
        while not connection.done():
            if cancel.is_set():
                return None
            yield _CONNECT_SECONDS
        return connection.result()

    def _try_to_open(self, opened: Future[C], store: Store) -> None:
        try:
            opened.set_result(self._open(store))
        except Exception as error:
            opened.set_exception(error)

    def _board(self, connection: C, submission: Submission) -> J:
        """Have a step wait for a job: one that makes it, one with others that are ready now, or its own."""
        job, store = submission.job, submission.store
        with self._lock:
            known = self._jobs.get(job.step)
            if known and known.join_member(submission):
                return known
            names = {known.name for known in self._jobs.values()}
            for state in self._live(connection, store, job.step):
                if state.name not in names:
                    return self._begin(self._make(connection, store, state), submission)
            group = self._group(connection, store, job)
            known = self._joinable.get(group)
            if known and known.join_group(submission, group):
                self._jobs[job.step] = known
                return known
            self._joinable[group] = made = self._make(connection, store, group)
            return self._begin(made, submission)

    def _begin(self, waited: J, submission: Submission) -> J:
        """Have a first step wait for a job, so that others find it."""
        waited.join(submission)
        self._jobs.update(dict.fromkeys(waited.steps, waited))
        return waited

    def _forget(self, waited: J) -> None:
        """Let no more steps wait for a job: none does."""
        with self._lock:
            for step in waited.steps:
                if self._jobs.get(step) is waited:
                    del self._jobs[step]
            for group in [group for group, known in self._joinable.items() if known is waited]:
                del self._joinable[group]
