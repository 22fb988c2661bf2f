"""Patience with a store that cannot be reached: what is asked of it is asked again for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from translations_assets.errors import StoreUnreachable

RUN_SECONDS = 300.0  # what a run waits for
RESULT_SECONDS = 600.0  # what a finished script's result waits for
FIRST_PAUSE = 1.0  # seconds; doubles up to the last one
LAST_PAUSE = 15.0

T = TypeVar("T")


def when_reachable(
    action: Callable[[], T], limit: float, wait: Callable[[float], bool], tell: Callable[[str], None]
) -> T:
    """Do something that needs the store; while that cannot be reached, tell it once, wait, and do it again.

    limit  seconds of pauses after which StoreUnreachable is raised; they are counted anew after an action
           that itself took so long
    wait   pauses for so many seconds; True when nobody needs the result any more, which raises it, too
    """
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        began = time.monotonic()
        try:
            return action()
        except StoreUnreachable as error:
            if time.monotonic() - began > limit:
                waited, pause = 0.0, FIRST_PAUSE
            if waited == 0:
                tell(f"{error} Waiting for it, at most {limit / 60:.0f} minutes.")
            if waited >= limit or wait(pause):
                raise
            waited += pause
            pause = min(2 * pause, LAST_PAUSE)
