"""Errors of the engine and the stores, all written for people.

TranslationsError
├── StoreError          the store cannot be read or written
│   ├── DamagedError    contents are missing, differ from their digest, or have another form
│   └── StoreUnreachable  its disk or network is away, perhaps for a moment: worth waiting for
├── TemporaryError      a runner cannot do it now: another attempt may succeed
├── GraphError          the stages do not make a graph
├── CodeError           a script's code cannot be fingerprinted
├── StepFailed          a script failed for its own fault, or too often
└── RunCancelled        somebody ended the run
"""

from collections.abc import Sequence
from dataclasses import dataclass


class TranslationsError(Exception):
    """The base: what is wrong, where, what to do next."""


class StoreError(TranslationsError):
    """The store cannot be reached, read or written."""


class DamagedError(StoreError):
    """Contents are missing, differ from their digest, or are not of the form that they ought to have."""


class StoreUnreachable(StoreError):
    """The store's disk or network is away, perhaps for a moment: worth waiting for (`running.tasks`)."""


class TemporaryError(TranslationsError):
    """A runner cannot make an attempt now: its machine or its cluster; another attempt may succeed."""


class GraphError(TranslationsError):
    """The stages do not make a graph: an unknown upstream, two steps with one label, a cycle."""


class CodeError(TranslationsError):
    """A script's code cannot be fingerprinted: it is missing, broken, or imports what cannot be followed."""


@dataclass(frozen=True)
class FailedStep:
    """A step that failed, as people are told of it.

    command  prints its whole log; empty when it has none
    log      key and generation of the result that it would have had, under which its log stands
    is_lost  it was not run: its result is lost, and is made again when that is asked for (`--repair`)
    unpaid   it did not begin, or was ended, for want of budget
    """

    label: str
    text: str
    command: str = ""
    log: tuple[str, int] | None = None
    is_lost: bool = False
    unpaid: bool = False

    def __str__(self) -> str:
        return f"{self.text}\nIts whole log: {self.command}" if self.command else self.text


class StepFailed(TranslationsError):
    """Scripts failed for their own fault, or too often."""

    def __init__(self, failures: Sequence[FailedStep]) -> None:
        super().__init__("\n\n".join(map(str, failures)))
        self.failures = tuple(failures)

    @property
    def unpaid(self) -> bool:
        """True if at least one of them failed for want of budget."""
        return any(step.unpaid for step in self.failures)


class RunCancelled(TranslationsError):
    """Somebody ended the run before the step was done."""
