"""Tests of the explanation of a failed step."""

import pytest

from translations_assets.running.failure import LOG_LINES, error_line, told
from translations_assets.running.job import Outcome

ENDED = "pipeline.train.vocab ended with exit code 1"
TRACE = """\
Traceback (most recent call last):
  File "code/pipeline/train/vocab.py", line 3, in <module>
    main()
  File "code/pipeline/train/vocab.py", line 2, in main
    return int("x")
           ^^^^^^^^
"""


def failure(tail: str) -> list[str]:
    return told("train-vocab", Outcome("failed", None, ENDED, tail)).splitlines()


def test_an_error_of_a_script_stands_first_and_once() -> None:
    assert failure("12:00:00 sampling\nerror: Too few.\nSet less.\n[worker] stored") == [
        "The step train-vocab failed: Too few.",
        "    Set less.",
        f"{ENDED}. Before that:",
        "    12:00:00 sampling",
        "    [worker] stored",
    ]


@pytest.mark.parametrize("error", ["ValueError: no number", "pipeline.common.Odd: no number", "MemoryError"])
def test_an_exception_stands_before_its_traceback(error: str) -> None:
    said = failure(f"reading\n{TRACE}{error}")
    assert said[:3] == [
        f"The step train-vocab failed: {error}",
        f"{ENDED}. Before that:",
        "    reading",
    ]
    assert said[3:] == [f"    {line}" for line in TRACE.splitlines()]


def test_of_several_errors_the_last_counts() -> None:
    tail = f"error: first\n{TRACE}KeyError: 'a'\n\nDuring that:\n\n{TRACE}ValueError: last\nof two lines"
    assert failure(tail)[:2] == ["The step train-vocab failed: ValueError: last", "    of two lines"]
    assert error_line(tail) == "ValueError: last"
    assert (
        error_line("error (worth another attempt): No answer.") == "error (worth another attempt): No answer."
    )


def test_a_cause_that_the_worker_has_found_stands_first() -> None:
    full = Outcome(
        "temporary", None, "no space left in /work (exit code 75): free some", "error: No space left"
    )
    assert told("train-vocab", full).splitlines() == [
        "The step train-vocab failed: no space left in /work (exit code 75): free some",
        "    error: No space left",
    ]


def test_where_no_error_is_seen_its_end_and_the_log_are_told() -> None:
    lines = [f"line {number}:" for number in range(100)]
    assert failure("\n".join(lines)) == [
        f"The step train-vocab failed: {ENDED}",
        *(f"    {line}" for line in lines[-LOG_LINES:]),
    ]
    assert failure("") == [f"The step train-vocab failed: {ENDED}"]
