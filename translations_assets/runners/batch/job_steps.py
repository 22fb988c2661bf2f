"""The steps of this process that wait for a Job."""

from __future__ import annotations

import threading

from translations_assets.runners.batch.member import Member
from translations_assets.runners.wire import Ending
from translations_assets.running.events import JobEvent
from translations_assets.running.runner import Submission


class JobSteps:
    """The steps of this process that wait for a Job, and how those have ended that it has done with.

    members    the steps that the Job makes; empty before it is described
    waits_for  what they all wait for, in words; empty while nothing is the matter
    """

    def __init__(self) -> None:
        self.members: tuple[Member, ...] = ()
        self.waits_for = ""
        self._lock = threading.RLock()
        self._waiting: list[Submission] = []
        self._endings: dict[tuple[str, int], Ending] = {}

    def awaited(self) -> list[Member]:
        """The members that have not ended, and that a step waits for."""
        with self._lock:
            steps = {submission.job.step for submission in self._waiting}
        return [item for item in self.members if item.step in steps and item.step not in self._endings]

    def is_resumable(self, item: Member) -> bool:
        """True if a member's next attempt goes on from what this one has saved."""
        return any(submission.job.resumable for submission in self._of(item))

    def wait_for(self, what: str) -> None:
        """Note what the steps wait for now."""
        self.waits_for = what

    def tell(self, item: Member, event: JobEvent) -> None:
        """Hand on what happens to a member."""
        for submission in self._of(item):
            submission.on_event(event)

    def finish(self, item: Member, ending: Ending) -> None:
        """Hand on a member's end."""
        self._endings[item.step] = ending
        for submission in self._of(item):
            submission.wake()

    def _of(self, item: Member) -> list[Submission]:
        with self._lock:
            return [submission for submission in self._waiting if submission.job.step == item.step]

    def _wake_first(self) -> None:
        with self._lock:
            for submission in self._waiting[:1]:
                submission.wake()
