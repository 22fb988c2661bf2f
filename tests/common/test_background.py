"""Work that repeats: nothing that it raises ends it, on the machine's clock and on a virtual one."""

from __future__ import annotations

import threading

import pytest

from tests.runners.scripts import eventually
from tests.virtual_clock import VirtualClock
from translations_assets.common.background import Repeating
from translations_assets.common.errors import TranslationsError


class Action:
    """Something that raises what it is told, and counts its calls."""

    def __init__(self, *errors: Exception | None, then: Exception | None = None) -> None:
        self.errors, self.then, self.calls = list(errors), then, 0
        self.reports: list[str] = []

    def __call__(self) -> None:
        self.calls += 1
        if error := self.errors.pop(0) if self.errors else self.then:
            raise error


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


def started(clock: VirtualClock, action: Action, **options: object) -> Repeating:
    repeating = Repeating("test", action, 10, action.reports.append, clock=clock, **options)  # type: ignore[arg-type]
    repeating.start()
    return repeating


def test_a_failure_is_reported_once_and_the_action_done_again(clock: VirtualClock) -> None:
    action = Action(ValueError("strange"), ValueError("strange"), TranslationsError("away"), None)
    repeating = started(clock, action)
    clock.run(9)
    assert action.calls == 0
    clock.run(12)
    assert (action.calls, repeating.failures) == (2, 2)
    assert repeating.unsuccessful == 21
    clock.run(10)
    [bug, away] = action.reports
    assert "ValueError('strange')" in bug
    assert "tests/common/test_background.py" in bug, "it says where"
    assert (away, repeating.error) == ("away", "away")
    clock.run(11)
    assert (action.calls, repeating.error, repeating.unsuccessful) == (4, "", 2)


def test_the_same_failure_after_a_success_is_reported_again(clock: VirtualClock) -> None:
    action = Action(OSError("full"), None, OSError("full"))
    started(clock, action)
    clock.run(35)
    assert action.reports == ["full", "full"]


def test_an_action_that_fails_for_ever_and_a_report_that_fails_end_nothing(clock: VirtualClock) -> None:
    action = Action(then=ValueError("strange"))

    def report(words: str) -> None:
        raise RuntimeError(words)

    repeating = Repeating("test", action, 1, report, clock=clock)
    repeating.start()
    clock.run(100)
    assert action.calls == repeating.failures == 100


def test_the_pause_doubles_up_to_the_longest_while_it_fails(clock: VirtualClock) -> None:
    times = []
    action = Action(*(ValueError(),) * 4, None)

    def act() -> None:
        times.append(clock.now - 1000)
        action()

    Repeating("test", act, 1, action.reports.append, longest=5, clock=clock).start()
    clock.run(21)
    assert times == [1, 3, 7, 12, 17, 18, 19, 20, 21]


def test_after_a_success_the_pause_is_the_first_one_again(clock: VirtualClock) -> None:
    action = Action(OSError("full"), OSError("full"), None)
    started(clock, action, longest=300)
    clock.run(10 + 20 + 40 + 1)
    assert action.calls == 3
    clock.run(20)
    assert action.calls == 5


def test_it_can_be_woken_and_stopped(clock: VirtualClock) -> None:
    action = Action()
    repeating = started(clock, action)
    repeating.wake()
    clock.run(1)
    assert action.calls == 1
    clock.run(8)
    assert action.calls == 1
    repeating.stop()
    clock.run(100)
    assert action.calls == 1
    assert repeating.join()
    repeating.start()
    clock.run(100)
    assert action.calls == 1, "what was stopped stays so"


def test_it_ends_with_the_need_and_begins_again_with_a_new_one() -> None:
    needed, rounds = True, threading.Semaphore(0)
    repeating = Repeating("test", rounds.release, 0.01, pytest.fail, needed=lambda: needed)
    before = set(threading.enumerate())
    for _ in range(2):
        needed = True
        repeating.start()
        repeating.start()
        assert rounds.acquire(timeout=20)
        assert len(set(threading.enumerate()) - before) == 1
        needed = False
        assert eventually(lambda: set(threading.enumerate()) <= before)


def test_stopping_waits_for_the_round_of_now() -> None:
    began, go_on = threading.Event(), threading.Event()

    def act() -> None:
        began.set()
        go_on.wait(20)

    repeating = Repeating("test", act, 0.01, pytest.fail)
    repeating.start()
    assert began.wait(20)
    repeating.stop()
    assert not repeating.join(0.01)
    go_on.set()
    assert repeating.join(20)
