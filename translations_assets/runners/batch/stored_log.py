"""The log of an attempt that a pod makes, as it comes into the store, and what its worker says there."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from translations_assets.runners.batch.job_steps import JobSteps
from translations_assets.runners.batch.member import Member
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
    def has_begun(self) -> bool:
        """True if the worker has said something."""
        return self._is_ours

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


class StoredLogs:
    """The logs of a job's members, shown as they come.

    steps   the steps of this process that wait for the job
    sink    takes the lines: label of the step, line
    worker  name of the job's worker in the replies; set before a log is read
    """

    def __init__(self, store: Store, steps: JobSteps, sink: Callable[[str, bytes], None]) -> None:
        self._store, self._steps, self._sink = store, steps, sink
        self._logs: dict[Member, StoredLog] = {}
        self.worker = ""

    def of(self, member: Member) -> StoredLog:
        """The log of a member, which is read from now on."""
        if member not in self._logs:
            self._logs[member] = StoredLog(self._store, member, self.worker)
        return self._logs[member]

    def get(self, member: Member) -> StoredLog | None:
        """The log of a member, None when nobody has read it."""
        return self._logs.get(member)

    def behind(self) -> list[StoredLog]:
        """Those of which there are more parts than were read at once."""
        return [log for log in self._logs.values() if log.is_behind]

    def known(self, member: Member, *, ended: bool) -> Outcome | None:
        """A member's ending, as far as the store has it, once its log is shown."""
        log = self.of(member)
        for new in log.read(ended=ended):
            if isinstance(new, JobEvent):
                self._steps.tell(member, new)
            else:
                self._sink(member.label, new)
        if log.is_behind:
            return None
        if manifest := self._store.generation(*member.step):
            return Outcome("done", manifest)
        return replace(log.outcome, log_tail=log.tail) if log.outcome else None
