"""Patience with a store that cannot be reached: what is asked of it is asked again for a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from translations_assets.background import CLOCK, Clock
from translations_assets.errors import StoreUnreachable
from translations_assets.running.tasks import Work, at_once, finish

RUN_SECONDS = 300.0  # what a run waits for
RESULT_SECONDS = 600.0  # what a finished script's result waits for
FIRST_PAUSE = 1.0  # seconds; doubles up to the last one
LAST_PAUSE = 15.0

T = TypeVar("T")


def when_reachable(
    action: Callable[[], T],
    limit: float,
    wait: Callable[[float], bool],
    tell: Callable[[str], None],
    clock: Clock = CLOCK,
) -> T:
    """Do something that needs the store, in this thread; see `patiently`.

    wait  pauses for so many seconds; True when the result is not needed any more, which ends it as well
    """
    unneeded = False

    def pause(seconds: float) -> None:
        nonlocal unneeded
        unneeded = wait(seconds)

    return finish(patiently(lambda: at_once(action), limit, lambda: unneeded, tell, clock), pause)


def patiently(
    begin: Callable[[], Work[T]],
    limit: float,
    unneeded: Callable[[], bool],
    tell: Callable[[str], None],
    clock: Clock = CLOCK,
) -> Work[T]:
    """Do a work that needs the store; while that cannot be reached, tell it once, wait, and do it again.

    limit     seconds of pauses after which StoreUnreachable is raised; they are counted from the beginning
              after a work that itself took so long
    unneeded  whether the result is not needed any more, which raises it, too
    """
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        began = clock.monotonic()
        try:
            return (yield from begin())
        except StoreUnreachable as error:
            if clock.monotonic() - began > limit:
                waited, pause = 0.0, FIRST_PAUSE
            if waited == 0:
                tell(f"{error} Waiting for it, at most {limit / 60:.0f} minutes.")
            if waited >= limit:
                raise
            yield pause
            if unneeded():
                raise
            waited += pause
            pause = min(2 * pause, LAST_PAUSE)
