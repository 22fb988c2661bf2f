"""Threads that do something while there is a need for it."""

from __future__ import annotations

import threading

import pytest

from tests.runners.scripts import eventually
from translations_assets.store.bucket.beat import Beat


def test_an_action_that_fails_is_done_again_and_hinders_no_other(caplog: pytest.LogCaptureFixture) -> None:
    needed, before = True, set(threading.enumerate())
    rounds: list[str] = []

    def fail() -> None:
        rounds.append("fail")
        raise ValueError("an answer that nobody has foreseen")

    beat = Beat(0.01, lambda: needed, fail, lambda: rounds.append("work"))
    beat.start()
    assert eventually(lambda: rounds.count("fail") > 2 and rounds.count("work") > 2)
    assert "an answer that nobody has foreseen" in caplog.text
    needed = False
    assert eventually(lambda: set(threading.enumerate()) <= before)


def test_it_begins_again_with_a_new_need() -> None:
    needed, rounds = True, threading.Semaphore(0)
    beat = Beat(0.01, lambda: needed, rounds.release)
    before = set(threading.enumerate())
    for _ in range(2):
        needed = True
        beat.start()
        beat.start()
        assert rounds.acquire(timeout=20)
        assert len(set(threading.enumerate()) - before) == 1
        needed = False
        assert eventually(lambda: set(threading.enumerate()) <= before)
