"""The steps of a run that have no result yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from translations_assets.graph.step import Step


class WaitingSteps:
    """Steps that wait for results of others: which of them have got all, without a look at all of them.

    has_result  whether a step that others wait for has its result
    """

    def __init__(self, steps: Sequence[Step], has_result: Callable[[Step], bool]) -> None:
        self._has_result = has_result
        self._upstream = {step: tuple(step.upstream()) for step in steps}
        self._downstream: dict[Step, list[Step]] = defaultdict(list)
        for step, upstream in self._upstream.items():
            for up in upstream:
                self._downstream[up].append(step)
        self._waiting = dict.fromkeys(steps)
        self._looked_at = dict.fromkeys(steps)  # those of them that may have become ready

    def __iter__(self) -> Iterator[Step]:
        return iter(self._waiting)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def may_be_ready(self) -> bool:
        """True if some may have got all that they wait for."""
        return bool(self._looked_at)

    def take(self, most: int) -> list[Step]:
        """So many steps at most that have got all; they wait no more."""
        ready: list[Step] = []
        while self._looked_at and len(ready) < most:
            step = next(iter(self._looked_at))
            del self._looked_at[step]
            if step in self._waiting and all(map(self._has_result, self._upstream[step])):
                del self._waiting[step]
                ready.append(step)
        return ready

    def put_back(self, steps: Iterable[Step]) -> None:
        """Have steps that were taken wait again, for good: the run was cancelled."""
        self._waiting.update(dict.fromkeys(steps))

    def note_result(self, step: Step) -> None:
        """Look again at the steps that wait for one that has its result now; from any thread."""
        self._looked_at.update(dict.fromkeys(self._downstream.get(step, ())))
