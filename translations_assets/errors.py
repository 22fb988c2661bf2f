"""Errors of the engine and the stores, all written for people.

TranslationsError
├── StoreError          the store cannot be read or written
│   ├── DamagedError    contents are missing or differ from their digest
│   └── StoreUnreachable  its disk or network is away, perhaps for a moment: worth waiting for
├── TemporaryError      a runner cannot do it now: another attempt may succeed
├── GraphError          the stages do not make a graph
├── CodeError           a script's code cannot be fingerprinted
├── StepFailed          a script failed for its own fault, or too often
└── Cancelled           somebody ended the run
"""


class TranslationsError(Exception):
    """The base: what is wrong, where, what to do next."""


class StoreError(TranslationsError):
    """The store cannot be reached, read or written."""


class DamagedError(StoreError):
    """Contents are missing or differ from their digest."""


class StoreUnreachable(StoreError):
    """The store's disk or network is away, perhaps for a moment: worth waiting for (`running.tasks`)."""


class TemporaryError(TranslationsError):
    """A runner cannot make an attempt now: its machine or its cluster; another attempt may succeed."""


class GraphError(TranslationsError):
    """The stages do not make a graph: an unknown upstream, two steps with one label, a cycle."""


class CodeError(TranslationsError):
    """A script's code cannot be fingerprinted: it is missing, broken, or imports what cannot be followed."""


class StepFailed(TranslationsError):
    """A script failed for its own fault, or too often."""


class Cancelled(TranslationsError):
    """Somebody ended the run before the step was done."""
