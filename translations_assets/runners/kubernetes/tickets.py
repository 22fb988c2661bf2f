"""The steps of this process that wait for a Job, and the events that they receive of it."""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass, field

from translations_assets.runners.kubernetes.state import Member
from translations_assets.runners.wire import Ending
from translations_assets.running.events import JobEvent
from translations_assets.running.job import Job
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work

_LONG_SECONDS = 60.0  # replies wake the work that waits for them


@dataclass(eq=False)
class Ticket:
    """The events of a step in a Job, then one ending, from the thread that follows the Job.

    An exception in place of an ending: what kept the Job from being followed.
    """

    submission: Submission
    _replies: queue.SimpleQueue[JobEvent | Ending | Exception] = field(default_factory=queue.SimpleQueue)

    def reply(self, reply: JobEvent | Ending | Exception) -> None:
        """Note what has happened, and wake the work that waits for it."""
        self._replies.put(reply)
        self.submission.wake()

    def ending(self) -> Work[Ending | None]:
        """Hand on what happens to the step until it has ended; None when the run is cancelled before.

        Raises what keeps its Job from being followed.
        """
        while not self.submission.cancel.is_set():
            try:
                reply = self._replies.get_nowait()
            except queue.Empty:
                yield _LONG_SECONDS
                continue
            if isinstance(reply, Exception):
                raise reply
            if not isinstance(reply, JobEvent):
                return reply
            self.submission.on_event(reply)
        return None

    @property
    def job(self) -> Job:
        """The attempt of the step."""
        return self.submission.job


class Tickets:
    """The steps of this process that wait for one Job.

    members  the steps that the Job makes; empty before it is described
    steps    those, and all that have waited for it
    over     no step waits any more, and none can join
    changed  set when the Job, its pod, its log or the tickets change
    waits_for  what they all wait for, in words; empty while nothing is the matter
    """

    def __init__(self, members: tuple[Member, ...]) -> None:
        self.members, self.over = members, False
        self.steps = {item.step for item in members}
        self.changed = threading.Event()
        self.waits_for = ""
        self._lock = threading.RLock()
        self._tickets: list[Ticket] = []
        self._endings: dict[tuple[str, int], Ending] = {}

    def join(self, submission: Submission) -> Ticket:
        """A ticket for the step that the Job was made or found for."""
        with self._lock:
            self._tickets.append(ticket := Ticket(submission))
            self.steps.add(submission.job.step)
            return ticket

    def join_member(self, submission: Submission) -> Ticket | None:
        """A ticket for a step that the Job makes, or will; None when it does not, or has done with it."""
        step = submission.job.step
        with self._lock:
            steps = {item.step for item in self.members} or {ticket.job.step for ticket in self._tickets}
            return None if self.over or step not in steps or step in self._endings else self.join(submission)

    def wait_for(self, what: str) -> None:
        """Note what they wait for now."""
        self.waits_for = what

    def is_wanted(self) -> bool:
        """True if a step that has not ended still waits; when none does, none can join any more."""
        with self._lock:
            self.over = self.over or not self._tickets
            return not self.over

    def pause(self, seconds: float) -> bool:
        """Pause, less when something changes; whether no step waits any more."""
        self.changed.wait(seconds)
        self.changed.clear()
        return not self.is_wanted()

    def unfinished(self) -> list[Member]:
        """The members that have not ended yet."""
        return [item for item in self.members if item.step not in self._endings]

    def of(self, step: tuple[str, int]) -> list[Ticket]:
        """The tickets of a step."""
        with self._lock:
            return [ticket for ticket in self._tickets if ticket.job.step == step]

    def finish(self, step: tuple[str, int], ending: Ending) -> None:
        """Pass the end of a step on; it waits no longer."""
        with self._lock:
            self._endings[step] = ending
            ended = self.of(step)
            self._tickets = [ticket for ticket in self._tickets if ticket.job.step != step]
        for ticket in ended:
            ticket.reply(ending)

    def fail(self, error: Exception) -> None:
        """End every step that waits by what keeps the Job from being followed."""
        with self._lock:
            self.over = True
            failed, self._tickets = self._tickets, []
        for ticket in failed:
            ticket.reply(error)
