"""Requests that are made again while what is wrong may pass."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def repeat(
    ask: Callable[[], T],
    passes: Callable[[Exception], bool],
    asked_pause: Callable[[Exception], float],
    *,
    patience: float,
    pauses: tuple[float, float],
    failures: list[Exception] | None = None,
) -> T:
    """Ask until there is an answer, with growing pauses; the last error when what is wrong does not pass.

    passes       whether the same request may succeed later
    asked_pause  seconds for which the service wants to be left alone
    patience     seconds after which no request is repeated
    pauses       seconds: about the first, and at most the longest
    failures     receives the errors that caused repeats
    """
    pause, longest = pauses
    end = time.monotonic() + patience
    while True:
        try:
            return ask()
        except Exception as error:
            if not passes(error) or time.monotonic() >= end:
                raise
            if failures is not None:
                failures.append(error)
            asked = min(asked_pause(error), patience)
        time.sleep(max(asked, random.uniform(0, pause)))
        pause = min(2 * pause, longest)
