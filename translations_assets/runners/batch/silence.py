"""A step of which nothing is heard for half a minute says what it waits for, whatever that is."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from translations_assets.common.background import CLOCK, Clock
from translations_assets.running.events import JobEvent, Waiting
from translations_assets.running.runner import Submission
from translations_assets.running.tasks import Work

SILENT_SECONDS = 30.0
_LOOK_SECONDS = 5.0  # while there is nothing to say
_LONGEST_PAUSE = 600.0  # between two words of the same

T = TypeVar("T")


class Words:
    """Messages on the steps of a process: thousands that wait for one thing share one message.

    It is said again after half a minute, a minute, two …, as long as it lasts.
    """

    def __init__(self, clock: Clock = CLOCK) -> None:
        self.clock = clock
        self._said: dict[str, _Said] = {}
        self._lock = threading.Lock()

    def are_due(self, text: str) -> bool:
        """True if a message is due now; if so, it counts as sent."""
        kind, now = re.sub(r"\d+", "", text), self.clock.monotonic()  # numbers of the moment change nothing
        with self._lock:
            said = self._said.get(kind)
            if said is None or now - said.due > _LONGEST_PAUSE:
                said = _Said(now, SILENT_SECONDS)
            elif now < said.due:
                return False
            self._said[kind] = _Said(now + said.pause, min(2 * said.pause, _LONGEST_PAUSE))
            return True


@dataclass(frozen=True)
class _Said:
    """Times of a message: the next repeat, and the pause after that."""

    due: float
    pause: float


def heard_of(
    begin: Callable[[Submission], Work[T]], submission: Submission, why: Callable[[], str], words: Words
) -> Work[T]:
    """Do the work of an attempt; after half a minute without an event, tell what it waits for.

    why  what that is; empty where nothing is the matter, as while a script runs
    """
    clock = words.clock
    heard = clock.monotonic()

    def on_event(event: JobEvent) -> None:
        nonlocal heard
        heard = clock.monotonic()
        submission.on_event(event)

    work = begin(replace(submission, on_event=on_event))
    while True:
        try:
            pause = next(work)
        except StopIteration as end:
            result: T = end.value
            return result
        left = heard + SILENT_SECONDS - clock.monotonic()
        if left <= 0:
            left = _LOOK_SECONDS
            if text := why():
                left, heard = SILENT_SECONDS, clock.monotonic()
                if words.are_due(text):
                    submission.on_event(Waiting(f"waiting: {text}"))
        yield min(pause, left)
