"""A batch job, and the steps of this process that wait for it."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, Protocol

from translations_assets.common.errors import StoreError
from translations_assets.config.deployment import WorkerClassName
from translations_assets.runners.batch.job_steps import JobSteps
from translations_assets.runners.batch.limits import Limits, Slot
from translations_assets.runners.batch.member import Member, member
from translations_assets.runners.wire import Ending
from translations_assets.running.job import Job
from translations_assets.running.protocols import Store
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work

# Steps of a stage that become ready one soon after the other share a job, until there is no more for so long
COLLECT_SECONDS = 0.3
_MOST_COLLECTING = 3.0
LONG_SECONDS = 60.0  # what a step waits for wakes it
_NO_SLOT = "the limit of running jobs is reached (max-jobs in the deployment file)"
_log = logging.getLogger(__name__)


class Grouped(Hashable, Protocol):
    """Properties that the steps of one job share."""

    @property
    def worker_class(self) -> WorkerClassName: ...


class WaitedJob(JobSteps, ABC):
    """A job that steps of this process have asked for, or found.

    The first step that waits looks after the job for all of them: it asks for it, and follows it until the
    step has ended or its run is cancelled. Then the next one does.

    limits    of jobs at once
    group     what the steps that may join have in common; None for a job that is there already
    capacity  the most steps that share it
    steps     those that it makes, and all that have waited for it
    ended     called when no step waits any more
    """

    def __init__(
        self,
        store: Store,
        limits: Limits,
        group: Grouped | None,
        capacity: int,
        ended: Callable[[Any], None],
    ) -> None:
        super().__init__()
        self._store, self._limits, self._ended = store, limits, ended
        self._group, self._capacity = group, capacity
        self.steps = set[tuple[str, int]]()
        self._error: Exception | None = None
        self._over = False
        self._began = self._joined = time.monotonic()
        self._slot: Slot | None = None

    @property
    @abstractmethod
    def name(self) -> str:
        """The job's name; empty before it is there."""

    @abstractmethod
    def _look_after(self, submission: Submission) -> Work[None]:
        """Ask for the job or follow it, for a while."""

    @abstractmethod
    def _let_go(self) -> None:
        """Be told of the job's changes no more."""

    @abstractmethod
    def _end(self) -> None:
        """End the job, as no run waits for it; within a few seconds, or the sweep does it."""

    def join(self, submission: Submission) -> None:
        """Wait for the job that was made or found for a step."""
        with self._lock:
            self._waiting.append(submission)
            self.steps.add(submission.job.step)
            self._joined = time.monotonic()

    def join_member(self, submission: Submission) -> bool:
        """Wait for a step that the job makes, or will; False when it does not, or has done with it."""
        step = submission.job.step
        with self._lock:
            made = {item.step for item in self.members} or {other.job.step for other in self._waiting}
            can_join = not self._over and step in made and step not in self._endings
            if can_join:
                self.join(submission)
            return can_join

    def join_group(self, submission: Submission, group: Grouped) -> bool:
        """Wait for one more step, in a job that has not been asked for yet; False when there is no room."""
        with self._lock:
            can_join = not self.members and not self._over and group == self._group and self._room() > 0
            if can_join:
                self.join(submission)
                self._wake_first()
            return can_join

    def leave(self, submission: Submission) -> None:
        """Wait no longer; when the run was cancelled, with the last step that waits the job ends.

        Call it when the store does not count this run among those that wait any more.
        """
        with self._lock:
            was_first = self._waiting[0] is submission
            self._waiting.remove(submission)
            if was_first:
                self._wake_first()
            if self._waiting:
                return
            self._over = True
        if self._slot:
            self._limits.release(self._slot)
        self._let_go()
        self._ended(self)
        if submission.cancel.is_set() and self.name:
            self._end_unless_wanted()

    def _room(self) -> int:
        return self._capacity - len({submission.job.step for submission in self._waiting})

    def ending(self, submission: Submission) -> Work[Ending | None]:
        """Wait for a step's end, and look after the job as the first; None when the run is cancelled before.

        Raises what keeps the job from being followed.
        """
        while not submission.cancel.is_set():
            if ending := self._endings.get(submission.job.step):
                return ending
            if self._error:
                raise self._error
            if self._waiting[0] is not submission:
                yield LONG_SECONDS
                continue
            try:
                yield from self._look_after(submission)
            except Exception as error:
                if not submission.cancel.is_set():  # else the next one tries
                    self._fail(error)
        return None

    def _fail(self, error: Exception) -> None:
        """End every step that waits by what keeps the job from being followed."""
        with self._lock:
            self._over, self._error = True, error
            for submission in self._waiting:
                submission.wake()

    def _wait_for_slot(self, cancelled: Callable[[], bool]) -> Work[list[Job]]:
        """Wait until no more steps come and there is a slot for the job; its steps, none when cancelled."""
        assert self._group is not None
        while (left := self._collecting()) > 0 and not cancelled():
            yield left
        self.waits_for = _NO_SLOT
        self._slot = self._slot or self._limits.queue(self._group.worker_class, self._wake_first)
        while not self._slot.is_free and not cancelled():
            yield LONG_SECONDS
        return [] if cancelled() else self._close()

    def _collecting(self) -> float:
        """Seconds for which steps may still join, if no further one does."""
        with self._lock:
            end = min(self._joined + COLLECT_SECONDS, self._began + _MOST_COLLECTING)
            return end - time.monotonic() if self._room() > 0 else 0.0

    def _close(self) -> list[Job]:
        """Let no more steps join; those that have, in an order that does not depend on which was first."""
        with self._lock:
            jobs = {submission.job.step: submission.job for submission in self._waiting}
            ordered = [job for _, job in sorted(jobs.items())]
            self.members = tuple(map(member, ordered))
            return ordered

    def _end_unless_wanted(self) -> None:
        """End the job when no run waits for any of its steps."""
        left = [item for item in self.members if item.step not in self._endings]
        try:
            if not any(self._store.owners.waiters(*item.step) for item in left):
                self._end()
        except StoreError as error:
            _log.warning("It is not known whether the job %s is waited for: %s", self.name, error)

    def _follow(self, members: tuple[Member, ...]) -> None:
        """Note which steps the job makes that is there."""
        self.members = members
        self.steps |= {item.step for item in members}
