"""What is asked of a service, and what is known of each line, by the records of its answers."""

from typing import Any

from pipeline.translate import asking


def test_why_a_line_failed_is_why_it_failed_alone() -> None:
    together = {"lines": [0, 1, 2], "candidates": [[], [], ["c"]], "failed": "rejected", "tokens": [0, 0]}
    alone = [{"lines": [0], "candidates": [[]], "failed": "cut_off", "tokens": [1, 1]}]
    answered = [{"lines": [1], "candidates": [["b"]], "failed": "malformed", "tokens": [1, 1]}]
    assert asking.answers_of([together, *alone, *answered, together]) == {
        0: {"failed": "rejected"},
        1: {"candidates": ["b"]},
        2: {"candidates": ["c"]},
    }
    assert asking.answers_of([together, *alone])[0] == {"failed": "cut_off"}


def test_after_an_interruption_only_what_is_open_is_asked() -> None:
    """Line 0 waits to be asked alone; 1 has failed alone, and 2 is answered."""
    together = {"lines": [0, 1, 2], "candidates": [[], [], ["c"]], "failed": "malformed", "tokens": [1, 1]}
    alone = {"lines": [1], "candidates": [[]], "failed": "malformed", "tokens": [1, 1]}
    assert [*asking.requests_of(range(6), [together, alone], 2)] == [(0,), (3, 4), (5,)]
    assert [*asking.requests_of([0, 2, 5], [], 2)] == [(0, 2), (5,)]


def test_rejections_before_the_first_answer_are_not_believed() -> None:
    """Those of another address or key, also where the attempt after it was killed."""

    def rejected(*numbers: int) -> dict[str, Any]:
        return {"lines": numbers, "candidates": [[] for _ in numbers], "failed": "rejected"}

    malformed = {"lines": [5], "candidates": [[]], "failed": "malformed", "tokens": [1, 1]}
    answered = {"lines": [2, 3], "candidates": [["c"], ["d"]], "failed": "malformed", "tokens": [1, 1]}
    kept = [rejected(0, 1, 2), rejected(0), malformed, rejected(1), answered, rejected(4)]
    assert asking.believed(kept) == [malformed, answered, rejected(4)]
    assert [*asking.requests_of(range(6), asking.believed(kept), 2)] == [(0, 1)]
    assert asking.believed([rejected(0), malformed]) == [malformed]


def test_what_had_no_answer_after_the_last_one_is_asked_again() -> None:
    """The service was gone, perhaps."""

    def without(*numbers: int) -> dict[str, Any]:
        return {"lines": numbers, "candidates": [[] for _ in numbers], "failed": "unanswered"}

    answered = {"lines": [2, 3], "candidates": [["c"], ["d"]], "failed": "malformed", "tokens": [1, 1]}
    kept = [without(0), answered, without(4, 5), without(1)]
    assert asking.believed(kept) == [without(0), answered]
    assert [*asking.requests_of(range(6), asking.believed(kept), 3)] == [(1, 4, 5)]
    assert asking.believed([without(0)]) == []
