"""Pauses that servers ask for. Stands outside of the layers: stores, runners and notices heed them."""

from __future__ import annotations

import math
from email.utils import parsedate_to_datetime

from translations_assets.common.background import CLOCK


def asked_pause(header: str, longest: float = math.inf) -> float | None:
    """Seconds that a `Retry-After` asks to wait, given as such or as a date; None without it.

    longest  that is heeded

    asked_pause("120", longest=60.0) == 60.0
    """
    value = header.strip()
    if value.isdecimal():
        return min(longest, float(value))
    try:
        until = parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return min(longest, max(0.0, until - CLOCK.time()))
