"""Explanation of a failed step for people: the error itself first, then the output before it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from translations_assets.common.errors import StoreError
from translations_assets.common.listing import some
from translations_assets.graph.step import Step
from translations_assets.running.job import Outcome
from translations_assets.running.protocols import Store
from translations_assets.running.session import Session

LOG_LINES = 20

# How scripts begin an error (`pipeline.common.script`)
_ERROR = re.compile(r"error(?: \(worth another attempt\))?: ")
# The last line of a traceback: the exception's name, and perhaps its message
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:: |$)")
_NOTE = "[worker] "
# Of outcomes whose cause only the log tells; others name it: a full disk, too little memory, a missing output
_UNEXPLAINED = re.compile(r"ended with (?:exit code|signal) \d+$|asks for another attempt|\bbug\b")


def lost_inputs(step: Step, session: Session, store: Store) -> list[str]:
    """List a step's inputs that the store has lost since they were resolved; the next run resolves anew."""
    try:
        lost = [output for output, blob in session.results.inputs(step).items() if not store.has_blob(blob)]
    except StoreError:
        return []  # the store cannot be reached: that is the failure, which is reported already
    return [
        f"Its input {output.name}, made by {output.step.label}, is missing from the store or damaged. "
        f"To have it made again: translations train {session.partition}"
        for output in lost
    ]


def told(label: str, outcome: Outcome) -> str:
    """The failure of a step, given how its last attempt ended.

    >>> print(told("train-vocab-en-lt", Outcome("failed", None, "the script ended with exit code 1", tail)))
    The step train-vocab-en-lt failed: Too few sentences. Set spm-vocab-size to 400 at most.
    the script ended with exit code 1. Before that:
        12:00:00 pipeline.train.vocab: sampling
    """
    lines = outcome.log_tail.splitlines()[-LOG_LINES:]
    before, error, after = _parts(lines)
    if not error or not _UNEXPLAINED.search(outcome.message):
        return "\n".join([f"The step {label} failed: {outcome.message}", *_indented(lines)])
    said = [*before, *after]
    return "\n".join(
        [
            f"The step {label} failed: {_ERROR.sub('', error[0], count=1)}",
            *_indented(error[1:]),
            f"{outcome.message}. Before that:" if said else f"{outcome.message}.",
            *_indented(said),
        ]
    )


def error_line(tail: str) -> str:
    """The line of a log's end that names the error; empty when there is none."""
    _, error, _ = _parts(tail.splitlines())
    return error[0] if error else ""


def why_ended(outcome: Outcome) -> str:
    """An outcome's message with the last error that the script printed."""
    return "; ".join(filter(None, [outcome.message, error_line(outcome.log_tail)]))


def names(steps: Iterable[Step]) -> str:
    """The labels of some steps, those of the first few of many."""
    return some([step.label for step in steps])


def _parts(lines: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Split a log into the lines before the last error, its own, and the worker's notes after it."""
    starts = [number for number in range(len(lines)) if _begins_error(lines, number)]
    if not starts:
        return lines, [], []
    start = starts[-1]
    ends = (number for number in range(start, len(lines)) if lines[number].startswith(_NOTE))
    end = next(ends, len(lines))
    return lines[:start], lines[start:end], lines[end:]


def _begins_error(lines: list[str], number: int) -> bool:
    line = lines[number]
    ends_traceback = number > 0 and lines[number - 1].startswith("    ") and _EXCEPTION.match(line)
    return bool(_ERROR.match(line) or ends_traceback)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
