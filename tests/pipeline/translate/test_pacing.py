"""Many requests at once: all are answered, as many at a time as the service takes."""

import threading
import time

import pytest

from pipeline.common.errors import InputError, TemporaryError
from pipeline.translate import pacing
from pipeline.translate.pacing import Pacing
from pipeline.translate.web_service import Busy


class Slots:
    """A service that is overloaded by more than so many requests at once."""

    def __init__(self, number: int) -> None:
        self.number, self.running, self.most, self.refused = number, 0, 0, 0
        self._lock = threading.Lock()

    def ask(self, request: int) -> int:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
            full = self.running > self.number
            self.refused += full
        time.sleep(0.002)
        with self._lock:
            self.running -= 1
        if full:
            raise Busy("too many requests", overload=True)
        return -request


def never(request: int, error: Busy) -> int:
    raise AssertionError(f"{request} was given up: {error}")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "PAUSE", 0.01)


@pytest.mark.parametrize("slots", [1, 3, 40])
def test_every_request_is_answered_by_any_service(slots: int) -> None:
    service = Slots(slots)
    asked: Pacing[int, int] = Pacing(service.ask, never)
    asked.add(range(600))
    found = dict(pair for replies in asked.replies() for pair in replies)
    assert found == {request: -request for request in range(600)}
    assert service.most > min(slots, pacing.FIRST)
    assert service.refused < 150


def test_requests_may_be_added_while_replies_are_read() -> None:
    asked: Pacing[int, int] = Pacing(lambda request: request + 1, never)
    asked.add([0])
    seen = []
    for replies in asked.replies():
        for _, reply in replies:
            seen.append(reply)
            asked.add([reply] if reply < 5 else [])
    assert seen == [1, 2, 3, 4, 5]


def test_a_pause_holds_for_all_requests() -> None:
    told = threading.Event()
    begun: list[float] = []

    def ask(request: int) -> int:
        begun.append(time.monotonic())
        if not told.is_set():
            told.set()
            raise Busy("later", overload=True, pause=0.5)
        time.sleep(0.05)
        return request

    asked: Pacing[int, int] = Pacing(ask, never)
    asked.add(range(40))
    assert sum(len(replies) for replies in asked.replies()) == 40
    later = [moment - begun[0] for moment in begun if moment - begun[0] > 0.04]
    assert later
    assert min(later) >= 0.49


def test_an_error_comes_after_the_replies_before_it() -> None:
    def ask(request: int) -> int:
        if request == 7:
            time.sleep(0.1)
            raise InputError("wrong key")
        return request

    asked: Pacing[int, int] = Pacing(ask, never)
    asked.add(range(8))
    seen: list[int] = []
    with pytest.raises(InputError, match="wrong key"):
        seen.extend(reply for replies in asked.replies() for _, reply in replies)
    assert sorted(seen) == [*range(7)]


def poisoned(error: Busy) -> dict[int, int]:
    """The replies of a service that answers all but request 3; 0 for what is given up."""

    def ask(request: int) -> int:
        if request == 3:
            raise error
        return -request

    asked: Pacing[int, int] = Pacing(ask, lambda request, error: 0)
    asked.add(range(1, 20))
    return dict(pair for replies in asked.replies() for pair in replies)


def test_a_request_that_fails_each_time_is_given_up_where_others_are_answered() -> None:
    for error in (Busy("internal error"), Busy("no answer in time", overload=True)):
        found = poisoned(error)
        assert found == {request: -request for request in range(1, 20)} | {3: 0}


def test_a_request_is_not_given_up_for_a_service_that_is_full() -> None:
    with pytest.raises(TemporaryError, match="too many requests; tried 8 times"):
        poisoned(Busy("too many requests", overload=True, full=True))


def test_a_request_is_not_given_up_for_a_service_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others were answered, but before it was asked first."""
    monkeypatch.setattr(pacing, "FIRST", 1)

    def ask(request: int) -> int:
        if request < 3:
            return request
        raise Busy("the connection is refused")

    asked: Pacing[int, int] = Pacing(ask, never)
    asked.add(range(5))
    with pytest.raises(TemporaryError, match="refused; tried 8 times"):
        [*asked.replies()]
