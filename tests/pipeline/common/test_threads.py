"""Tests of work in threads: results in order, and no further ahead than memory allows."""

from collections.abc import Iterator
from threading import Barrier

import pytest

from pipeline.common.threads import in_threads


def test_results_come_in_the_order_of_the_items() -> None:
    assert list(in_threads(lambda number: number * number, range(50), 3)) == [n * n for n in range(50)]
    assert list(in_threads(str, [], 3)) == []


def test_as_many_items_as_threads_are_worked_on_at_a_time() -> None:
    meeting = Barrier(2)
    assert sorted(in_threads(lambda _: meeting.wait(timeout=30), range(4), 2)) == [0, 0, 1, 1]


def test_items_are_taken_when_there_is_room_for_their_results() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(20):
            taken.append(number)
            yield number

    results = in_threads(str, items(), 2)
    assert next(results) == "0"
    assert len(taken) == 3


def test_what_fails_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda number: 1 // number, [1, 0, 2], 2))
