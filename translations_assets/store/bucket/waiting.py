"""Who waits for a step: objects on a bucket that count only while the process that wrote them lives.

    waiting/<key>.<n>/<session>.<i>   somebody who waits for generation n of a step
    sessions/<session>                the heartbeat of a process, while it waits for anything

A process that waits for a hundred steps renews one object. What it has registered counts as long as its
heartbeat is younger than three periods, by the service's clock (`ServiceClock`): no machine's clock matters,
and one look is enough to tell the dead.
"""

from __future__ import annotations

import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from translations_assets.errors import StoreError
from translations_assets.store.bucket.objects import Objects, Stat
from translations_assets.store.bucket.service_clock import ServiceClock, remove_older

_SESSIONS = "sessions/"
_WAITING = "waiting/"
_DOUBTFUL = 2 / 3  # of a lapse without a heartbeat: others may have taken us for dead


class Waiting:
    """Those who wait for steps' results; safe for use by several threads.

    objects  with little patience: who is cancelled leaves, and asks for others, within a few seconds
    lapse    seconds after which a heartbeat counts no more
    clock    seconds, never set back or forth
    """

    def __init__(
        self, objects: Objects, lapse: float, clock: Callable[[], float], service: ServiceClock
    ) -> None:
        self._objects, self._lapse, self._clock, self._service = objects, lapse, clock, service
        self._guard = threading.RLock()
        self._session = ""
        self._number = 0
        self._joined: set[str] = set()
        self._beaten = 0.0  # when the last heartbeat that succeeded was sent
        self._left: deque[str] = deque()  # what could not be removed yet

    @contextmanager
    def joined(self, key: str, generation: int, begin: Callable[[], None]) -> Iterator[None]:
        """Wait for a step's result; `begin` is called when there is something that `renew` has to do."""
        name = self._join(key, generation)
        try:
            begin()
            self._objects.write(name, b"")
            yield
        finally:
            self._leave(name)
            if self._left:
                begin()

    def count(self, key: str, generation: int) -> int:
        """How many wait for a step's result; what the dead have registered is removed."""
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
        """Whether there is anything to renew or to remove."""
        return bool(self._joined or self._left)

    def renew(self, after: float) -> bool:
        """Write a heartbeat when the last one is so many seconds old, and remove what could not be removed.

        Gives whether a heartbeat was written. Raises StoreError; then it is to be done again.
        """
        with self._guard:
            age = self._clock() - self._beaten
            due = bool(self._joined) and age >= after
            if due:
                self._beat(self._joined if age >= _DOUBTFUL * self._lapse else ())
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

    def _join(self, key: str, generation: int) -> str:
        with self._guard:
            if not self._joined:  # a new name each time: one object may be written only once a second
                self._session = uuid.uuid4().hex
                self._beat()
            self._number += 1
            name = f"{_WAITING}{key}.{generation}/{self._session}.{self._number}"
            self._joined.add(name)
            return name

    def _leave(self, name: str) -> None:
        with self._guard:
            self._joined.remove(name)
            names = [name] if self._joined else [name, f"{_SESSIONS}{self._session}"]
        while names:
            try:
                self._objects.delete(names[0])
            except StoreError:
                self._left.extend(names)
                return
            del names[0]

    def _beat(self, removed: Iterable[str] = ()) -> None:
        """Write a heartbeat, and again what may have been removed."""
        asked = self._clock()
        for name in (f"{_SESSIONS}{self._session}", *removed):
            self._objects.write(name, b"")
        self._beaten = asked

    def _is_alive(self, session: str) -> bool:
        found = self._objects.stat(f"{_SESSIONS}{session}")
        return found is not None and self._service.age(found) < self._lapse


def _session(found: Stat) -> str:
    return found.name.rpartition("/")[2].partition(".")[0]
