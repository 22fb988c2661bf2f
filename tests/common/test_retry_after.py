"""Tests of the pauses that servers ask for."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from translations_assets.common.background import CLOCK
from translations_assets.common.retry_after import asked_pause


@pytest.mark.parametrize(
    ("header", "pause"),
    [("120", 120.0), (" 7 ", 7.0), ("0", 0.0), ("", None), ("soon", None), ("-5", None), ("1.5", None)],
)
def test_seconds(header: str, pause: float | None) -> None:
    assert asked_pause(header) == pause


def test_dates() -> None:
    now = CLOCK.time()
    asked = asked_pause(formatdate(now + 90, usegmt=True))
    assert asked is not None
    assert 85 < asked <= 90
    assert asked_pause(formatdate(now - 90, usegmt=True)) == 0.0


def test_no_more_than_the_longest_pause_is_heeded() -> None:
    assert asked_pause("7200", longest=300.0) == 300.0
    assert asked_pause(formatdate(CLOCK.time() + 7200, usegmt=True), longest=300.0) == 300.0
