"""The log of an attempt that a pod makes, as it comes into the store, and what its worker says there."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

from translations_assets.runners.kubernetes.state import Member
from translations_assets.runners.publisher import FIRST_SECONDS, part_seconds
from translations_assets.runners.wire import unpack_reply
from translations_assets.running.events import JobEvent
from translations_assets.running.job import Outcome
from translations_assets.running.protocols import Store

_TAIL_LINES = 20
_MOST_PARTS = 32  # that are read at once: a training that goes on since days has thousands
_LONGEST = 1 << 20  # bytes of a line; what is longer comes in pieces, so that memory stays flat


class StoredLog:
    """The log of a member, part by part.

    A pod of the same attempt may have been there before: its parts, which come first, are passed over.

    outcome    what the worker says of the attempt's end, unless it is done
    is_behind  whether there are more parts than were read at once
    """

    def __init__(self, store: Store, member: Member, pod: str) -> None:
        self._store, self._member, self._pod = store, member, pod
        self._part = 0
        self._is_ours = False
        self._rest = b""
        self._tail = deque[bytes](maxlen=_TAIL_LINES)
        self._began = time.monotonic()
        self.outcome: Outcome | None = None
        self.is_behind = False

    @property
    def pause(self) -> float:
        """Seconds until there may be more."""
        if self.is_behind:
            return 0.0
        return part_seconds(time.monotonic() - self._began) if self._is_ours else 1.5 * FIRST_SECONDS

    @property
    def tail(self) -> str:
        """The last lines that were read."""
        return b"\n".join(self._tail).decode(errors="replace")

    def read(self, *, ended: bool) -> Iterator[bytes | JobEvent]:
        """The lines and events that have come since the last time.

        ended  the pod has: a last line may have no end
        """
        member = self._member
        for _ in range(_MOST_PARTS):
            part = self._store.log_part(member.key, member.generation, member.attempt, self._part)
            self.is_behind = part is not None
            if not part:
                break
            text, replies = part
            self._part += 1
            yield from self._events(replies)
            if self._is_ours:
                *lines, self._rest = (self._rest + text).split(b"\n")
                yield from self._noted(lines)
            if len(self._rest) > _LONGEST:
                yield from self._last_line()
        if ended and self._rest and not self.is_behind:
            yield from self._last_line()

    def _last_line(self) -> list[bytes]:
        """The line that has no end."""
        line, self._rest = self._rest, b""
        return self._noted([line])

    def _noted(self, lines: list[bytes]) -> list[bytes]:
        self._tail.extend(lines)
        return lines

    def _events(self, replies: bytes) -> Iterator[JobEvent]:
        """Take note of what the worker says in a part; its events."""
        pod, *lines = replies.splitlines() or [b""]
        if pod.decode() != self._pod:
            return
        self._is_ours = True
        for line in lines:
            with suppress(ValueError):  # of another version
                _, reply = unpack_reply(line)
                if isinstance(reply, Outcome):
                    self.outcome = reply
                elif isinstance(reply, JobEvent):
                    yield reply
