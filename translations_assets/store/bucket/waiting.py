"""Waiters for a step: objects on a bucket that count only while the process that wrote them lives.

    waiting/<key>.<n>/<session>.<i>   one that waits for generation n of a step
    sessions/<session>                the heartbeat of a process, while it waits for anything

A process that waits for a hundred steps renews one object. Its registrations count as long as its heartbeat
is younger than three periods, by the service's clock (`ServiceClock`): no machine's clock matters, and one
look shows whether a process is dead.
"""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from translations_assets.common.errors import StoreError, StoreUnreachable
from translations_assets.store.bucket.objects import Objects, ServiceClock, Stat, remove_older

_SESSIONS = "sessions/"
_WAITING = "waiting/"
_DOUBTFUL = 2 / 3  # of a lapse without a heartbeat: others may have taken us for dead


@dataclass
class _Session:
    """State of one heartbeat; a new one each time, as one object may be written only once a second.

    beaten  when the last heartbeat that succeeded was sent
    name    of the object of the heartbeat
    joined  the names of the objects that count while it is young
    begun   done with the first heartbeat
    """

    beaten: float
    name: str = field(default_factory=lambda: f"{_SESSIONS}{uuid.uuid4().hex}")
    joined: set[str] = field(default_factory=set)
    begun: Future[None] = field(default_factory=Future)


class Waiters:
    """The processes that wait for steps' results; safe for use by several threads.

    objects  with little patience: a cancelled process leaves, and looks for others, within a few seconds
    lapse    seconds after which a heartbeat counts no more
    clock    seconds, never set back or forth
    """

    def __init__(
        self, objects: Objects, lapse: float, clock: Callable[[], float], service: ServiceClock
    ) -> None:
        self._objects, self._lapse, self._clock, self._service = objects, lapse, clock, service
        self._guard = threading.Lock()  # never held during a request
        self._session: _Session | None = None  # while anything is joined
        self._number = 0
        self._left: deque[str] = deque()  # what could not be removed yet

    @contextmanager
    def joined(self, key: str, generation: int, begin: Callable[[], None]) -> Iterator[None]:
        """Wait for a step's result; `begin` is called when there is something that `renew` has to do."""
        with self._guard:
            first = self._session is None
            session = self._session = self._session or _Session(self._clock())
            self._number += 1
            name = f"{_WAITING}{key}.{generation}/{session.name.removeprefix(_SESSIONS)}.{self._number}"
            session.joined.add(name)
        try:
            if first:
                self._begin(session)
            session.begun.result()
            begin()
            self._objects.write(name, b"")
        except BaseException as error:
            was_refused = isinstance(error, StoreError) and not isinstance(error, StoreUnreachable)
            self._leave(session, name, was_refused=was_refused)
            if self._left:
                begin()
            raise
        try:
            yield
        finally:
            self._leave(session, name)
            if self._left:
                begin()

    def count(self, key: str, generation: int) -> int:
        """Count those that wait for a step's result; registrations of the dead are removed."""
        alive: dict[str, bool] = {}
        number = 0
        for found in self._objects.walk(f"{_WAITING}{key}.{generation}/"):
            session = _session(found)
            if session not in alive:
                alive[session] = self._is_alive(session)
            if alive[session]:
                number += 1
            else:
                self._objects.delete(found.name, found.generation)
        return number

    def is_needed(self) -> bool:
        """True if there is anything to renew or to remove."""
        return bool(self._session or self._left)

    def renew(self, after: float) -> bool:
        """Write a heartbeat when the last one is so many seconds old, and remove what could not be removed.

        Gives whether a heartbeat was written. Raises StoreError; then it is to be done again.
        """
        with self._guard:
            session = self._session
            joined = sorted(session.joined) if session else []
        age = self._clock() - session.beaten if session else 0.0
        due = session is not None and age >= after
        if session and due:
            self._beat(session, joined if age >= _DOUBTFUL * self._lapse else [])
        while self._left:
            self._objects.delete(self._left[0])
            self._left.popleft()
        return due

    def sweep(self) -> None:
        """Remove what the dead have left."""
        remove_older(self._objects, _SESSIONS, self._service, self._lapse)
        alive = {found.name.removeprefix(_SESSIONS) for found in self._objects.walk(_SESSIONS)}
        for found in self._objects.walk(_WAITING):
            if _session(found) not in alive and not self._is_alive(_session(found)):
                self._objects.delete(found.name, found.generation)

    def _begin(self, session: _Session) -> None:
        """Write the first heartbeat, for which all wait who join the session meanwhile."""
        try:
            self._beat(session, [])
        except BaseException as error:
            with self._guard:
                self._session = None  # the next one tries with another
            session.begun.set_exception(error)
        else:
            session.begun.set_result(None)

    def _leave(self, session: _Session, name: str, *, was_refused: bool = False) -> None:
        """Wait no longer; what was refused to be written need not be removed, and cannot be."""
        with self._guard:
            session.joined.remove(name)
            names = [name] if session.joined else [name, session.name]
            if not session.joined and self._session is session:
                self._session = None
        while names and not was_refused:
            try:
                self._objects.delete(names[0])
            except StoreError:
                self._left.extend(names)
                return
            del names[0]

    def _beat(self, session: _Session, removed: list[str]) -> None:
        """Write a heartbeat, and again what may have been removed."""
        asked = self._clock()
        try:
            for name in (session.name, *removed):
                self._objects.write(name, b"")
        finally:
            with self._guard:  # what has been left meanwhile may have been written after its removal
                left = set(removed) - session.joined if session.joined else {session.name, *removed}
            self._left.extend(left)
        session.beaten = asked

    def _is_alive(self, session: str) -> bool:
        found = self._objects.stat(f"{_SESSIONS}{session}")
        return found is not None and self._service.age(found) < self._lapse


def _session(found: Stat) -> str:
    return found.name.rpartition("/")[2].partition(".")[0]
