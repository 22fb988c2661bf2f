"""Tells whether a history is linearizable: whether its operations could have been done one after the other.

Each operation must take effect at one moment between its call and its return. The search is that of Wing and
Gong (1993), with the memory of Lowe (2017), as in Porcupine: where the same operations were done before, in
whatever order, and came to the same state, need not be looked at again.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Protocol


@dataclass(frozen=True)
class Operation:
    """An operation on an object.

    who       who has called it
    result    what it has returned; None when that is not known: it may have its effect at any later time,
              or never
    called, returned   seconds
    """

    who: str
    kind: str
    argument: Any
    result: Any
    called: float
    returned: float = inf

    @property
    def is_known(self) -> bool:
        """True if it has returned."""
        return self.returned < inf


class Model(Protocol):
    """An object, as it is when operations are done one after the other."""

    @property
    def start(self) -> Hashable:
        """The state at the beginning."""
        ...

    def after(self, state: Any, operation: Operation) -> Iterable[Hashable]:
        """The states in which an operation may leave the object; none where it cannot have had its result."""
        ...


def explained(history: Sequence[Operation], model: Model) -> list[Operation] | None:
    """An order of the operations that explains all results; None when there is none."""
    operations = sorted(history, key=lambda one: one.called)
    everything = sum(1 << number for number, one in enumerate(operations) if one.is_known)
    seen: set[tuple[int, Hashable]] = set()
    path: list[tuple[int, list[tuple[int, Hashable]]]] = []
    done, state = 0, model.start
    ways = _ways(operations, model, done, state)
    while done & everything != everything:
        if ways:
            number, after = ways.pop()
            if (done | 1 << number, after) in seen:
                continue
            path.append((number, ways))
            done, state = done | 1 << number, after
            seen.add((done, state))
            ways = _ways(operations, model, done, state)
        elif path:
            number, ways = path.pop()
            done ^= 1 << number
        else:
            return None
    return [operations[number] for number, _ in path]


def _ways(
    operations: Sequence[Operation], model: Model, done: int, state: Hashable
) -> list[tuple[int, Hashable]]:
    """The operations that can be the next, each with a state that it may leave; the likeliest last."""
    left = [(number, one) for number, one in enumerate(operations) if not done >> number & 1]
    first_return = min((one.returned for _, one in left), default=inf)
    return [
        (number, after)
        for number, one in sorted(left, key=lambda pair: pair[1].returned, reverse=True)
        if one.called <= first_return
        for after in model.after(state, one)
    ]


def least(history: Collection[Operation], model: Model) -> list[Operation]:
    """The beginning of a history that cannot be explained, as short as that can be: for people."""
    moments = sorted(one.returned for one in history if one.is_known)
    for moment in moments:
        begun = [one for one in history if one.called <= moment]
        cut = [
            one if one.returned <= moment else Operation(one.who, one.kind, one.argument, None, one.called)
            for one in begun
        ]
        if explained(cut, model) is None:
            return cut
    return sorted(history, key=lambda one: one.called)
