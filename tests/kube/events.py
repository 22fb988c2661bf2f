"""Events of a controller on their way to the API server, as client-go's recorder treats them.

Events that differ in their words alone are put together from the tenth on; one object gets only so many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

_SIMILAR, _SIMILAR_SECONDS = 10, 600.0
_BURST, _REFILL_SECONDS = 25, 300.0
_COMBINED = "(combined from similar events): "

Key: TypeAlias = tuple[str, ...]  # the object's uid and the reason; the words as well while few are similar


@dataclass(frozen=True)
class Told:
    """An event as the API server gets it: one with the key of an earlier one takes its place."""

    key: Key
    message: str
    count: int


@dataclass
class _Similar:
    messages: set[str] = field(default_factory=set)
    last: float = 0.0


@dataclass
class _Tokens:
    left: float = _BURST
    filled: float = 0.0


class Correlator:
    """The events of one controller.

    now  the time in seconds
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._similar: dict[Key, _Similar] = {}
        self._counts: Counter[Key] = Counter()
        self._tokens: dict[str, _Tokens] = {}

    def tell(self, uid: str, reason: str, message: str) -> Told | None:
        """The event to send about an object; None when there were too many."""
        told = self._combine(uid, reason, message)
        return told if self._may_send(uid) else None

    def _combine(self, uid: str, reason: str, message: str) -> Told:
        now = self._now()
        key: Key = uid, reason
        similar = self._similar.setdefault(key, _Similar())
        if now - similar.last > _SIMILAR_SECONDS:
            similar.messages.clear()
        similar.last = now
        similar.messages.add(message)
        if len(similar.messages) < _SIMILAR:
            key = (uid, reason, message)
        else:
            similar.messages.pop()
            message = _COMBINED + message
        self._counts[key] += 1
        return Told(key, message, self._counts[key])

    def _may_send(self, uid: str) -> bool:
        now = self._now()
        tokens = self._tokens.setdefault(uid, _Tokens(filled=now))
        tokens.left = min(_BURST, tokens.left + (now - tokens.filled) / _REFILL_SECONDS)
        tokens.filled = now
        if tokens.left < 1:
            return False
        tokens.left -= 1
        return True


def pauses(first: float = 1.0, longest: float = 60.0) -> Iterator[float]:
    """Seconds between the Job controller's tries; before 1.27 they began with 10 and grew to 360."""
    pause = first
    while True:
        yield pause
        pause = min(2 * pause, longest)
