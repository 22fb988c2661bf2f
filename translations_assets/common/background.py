"""Work in the background, and its clock: the machine's, or one that a simulation moves."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from translations_assets.common.errors import TranslationsError

if TYPE_CHECKING:
    from concurrent.futures import Executor

Join = Callable[[float | None], object]  # waits for the end of work, at most so many seconds


class Clock:
    """The machine's clock, with ways to wait and to start work by it; a simulation has a subclass."""

    def time(self) -> float:
        """Seconds since the epoch, for records."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that setting the machine's clock does not change."""
        return time.monotonic()

    def lasting(self) -> float:
        """Seconds that setting the machine's clock does not change, those for which it slept included."""
        return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))  # macOS: the latter

    def wait(self, event: threading.Event, seconds: float) -> bool:
        """Wait until an event is set, at most so long; True if it is set."""
        return event.wait(seconds)

    def start(self, name: str, work: Iterator[float], wake: threading.Event) -> Join:
        """Do work in the background: what it yields are pauses in seconds, which end early at `wake`.

        It has a thread, which does not keep the process from ending.
        """

        def run() -> None:
            for pause in work:
                wake.wait(pause)

        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread.join

    def pool(self, size: int, name: str) -> Executor:
        """Return an executor that does so many calls at once in the background."""
        from concurrent.futures import ThreadPoolExecutor  # only now: a local worker needs none

        return ThreadPoolExecutor(size, thread_name_prefix=name)


CLOCK = Clock()


class Repeating:
    """Does something again and again in the background; no exception ends it.

    name      for people who look at threads
    action    what is done; may block, and delays nothing but its own next round
    seconds   pause before each round
    report    gets a failure in words, once for all rounds in a row that fail alike
    needed    asked before each pause, and must not block: when not, the work ends until `start` is called
    longest   up to which the pause doubles while rounds fail; by default it does not

    failures  how many rounds have failed
    error     the failure of the last round in a line; empty when it worked
    """

    def __init__(
        self,
        name: str,
        action: Callable[[], object],
        seconds: float,
        report: Callable[[str], object],
        *,
        needed: Callable[[], object] = lambda: True,
        longest: float = 0.0,
        clock: Clock = CLOCK,
    ) -> None:
        self._name, self._action, self._seconds, self._report = name, action, seconds, report
        self._needed, self._longest, self._clock = needed, longest, clock
        self._guard = threading.Lock()
        self._wake = threading.Event()
        self._running = self._stopped = False
        self._join: Join | None = None
        self._pause = seconds
        self._succeeded = clock.monotonic()
        self.failures = 0
        self.error = ""

    def start(self) -> None:
        """Begin, with a pause; nothing happens where it runs already."""
        with self._guard:
            if not self._running and not self._stopped:
                self._running = True
                self._succeeded = self._clock.monotonic()
                self._join = self._clock.start(self._name, self._rounds(), self._wake)

    def wake(self) -> None:
        """End the pause of now, or leave out the next one."""
        self._wake.set()

    def stop(self) -> None:
        """Begin no further round."""
        self._stopped = True
        self.wake()

    def join(self, seconds: float | None = None) -> bool:
        """Wait for the end of the current round, at most so long; True if it has ended."""
        if self._join is not None:
            self._join(seconds)
        return not self._running

    def tick(self) -> None:
        """Do it once, now."""
        try:
            self._action()
        except Exception as error:
            self.failures += 1
            self._pause = max(self._seconds, min(2 * self._pause, self._longest))
            self._failed(error)
        else:
            self._pause, self.error = self._seconds, ""
            self._succeeded = self._clock.monotonic()

    @property
    def unsuccessful(self) -> float:
        """Seconds since the end of the last successful round, or since the start."""
        return self._clock.monotonic() - self._succeeded

    def _failed(self, error: Exception) -> None:
        headline = in_words(error, place=False)
        if headline != self.error:
            self.error = headline
            with suppress(Exception):  # a report that fails ends the work no more than the action does
                self._report(in_words(error))

    def _rounds(self) -> Iterator[float]:
        while self._goes_on():
            yield self._pause
            self._wake.clear()
            if not self._stopped:
                self.tick()

    def _goes_on(self) -> bool:
        with self._guard:  # a need that comes now finds this work running, or starts it again
            self._running = not self._stopped and bool(self._needed())
            return self._running


def in_words(error: Exception, *, place: bool = True) -> str:
    """An error for people; an unexpected one has its traceback, unless `place` is false."""
    if isinstance(error, (TranslationsError, OSError)):
        return str(error)
    return f"a bug: {error!r}" + (f"\n{''.join(traceback.format_exception(error))}" if place else "")
