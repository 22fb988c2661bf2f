"""Owners of steps: leases on a bucket, which has no locks that are freed when their holder dies.

    leases/<key>.<n>   the owner of a step's generation n, who writes it again and again, and removes it

An owner renews its lease every ten seconds. Another process may take the step over once it has seen
the lease unchanged for three periods of 15 s, by its own monotonic clock: no two clocks are ever compared,
and setting one does not matter. Takeover and renewal are both conditional on the generation of the object
that was read: of two takers one wins, and a renewal that comes too late fails.

An owner that could not renew for two periods has lost the step, a period before another can have taken it
over. An owner whose renewal finds another's lease has lost it at once. Decision 11 says what it does then. A
machine that sleeps stops its own clock: its first renewal after that shows whether the lease is lost, and the
garbage collector asks for one before it removes anything (`confirm`).

A lease that is ten periods old by the service's clock need not be watched: it is taken over at the first
look, so that a process that died last night delays nothing, and is not shown as running.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import uuid
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from translations_assets.common.background import CLOCK, Clock, Repeating
from translations_assets.common.errors import StoreError
from translations_assets.store.bucket.objects import Objects, ServiceClock, remove_older
from translations_assets.store.bucket.waiting import Waiters

PERIOD = 15.0  # seconds; all who use a bucket must agree on it
RENEWED_AFTER = 2 / 3  # of a period: a service that is away for a whole one costs no lease
GIVEN_UP_AFTER = 2  # periods without a renewal; leaves one for ending the script
LAPSED_AFTER = 3  # periods unchanged
LONG_DEAD_AFTER = 10  # periods; a margin for doubts about the service's clock
_ROUND = 1 / 5  # of a period: how often the threads look what is to do
_REQUEST = 1 / 5  # of a period: how long a request is repeated that is made again anyhow, or must not wait
_FOLDER = "leases/"

_log = logging.getLogger(__name__)


@dataclass
class _Lease:
    """A lease of ours.

    owner       what its contents begin with, unlike any other owner's
    written     how often it was written, or tried to be: its contents end with that
    generation  the object's, which each renewal changes
    token       the object's when we became the owner
    renewed     when the last renewal that succeeded was sent, by our clock
    confirmed   the same, by a clock that goes on while the machine sleeps
    reason      why it was lost; empty while it is ours
    busy        held during a renewal
    """

    name: str
    owner: bytes
    generation: int
    token: int
    renewed: float
    confirmed: float
    lost: Callable[[str], None] | None
    reason: str = ""
    written: int = 1
    busy: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> bytes:
        """Its next contents, which the object never had: some services know generations by their contents."""
        self.written += 1
        return _contents(self.owner, self.written)


class Leases:
    """Owners of steps, and those who wait for their results; safe for use by several threads.

    period  seconds
    """

    fenced = True

    def __init__(self, objects: Objects, period: float = PERIOD, clock: Clock = CLOCK) -> None:
        self._objects, self._period, self._clock = objects, period, clock
        seconds = _REQUEST * period
        self._impatient = objects.hurried(seconds)
        self._guard = threading.Lock()  # never held during a request
        self._held: dict[str, _Lease] = {}
        self._seen: dict[str, tuple[int, float]] = {}  # name → generation, and since when we have seen it
        self._lapse = LAPSED_AFTER * period
        self._service = ServiceClock(self._impatient, clock.monotonic)
        self._waiting = Waiters(self._impatient, self._lapse, clock.monotonic, self._service)
        self._swept = False
        held = partial(bool, self._held)
        self._renewing = self._repeating(self.renew, held)
        self._watching = self._repeating(self.watch, held)  # goes on while a renewal hangs
        self._renewing_waiting = self._repeating(self.renew_waiting, self._waiting.is_needed)

    def _repeating(self, action: Callable[[], None], needed: Callable[[], bool]) -> Repeating:
        report = partial(_log.warning, "Renewing the leases failed, and is retried: %s")
        return Repeating("leases", action, _ROUND * self._period, report, needed=needed, clock=self._clock)

    @contextmanager
    def lock(self, key: str, generation: int, lost: Callable[[str], None] | None = None) -> Iterator[bool]:
        """Try to become the owner of a step's generation; False at once when another process is.

        A dead owner's lease is taken over by asking again, once three periods have passed since the first
        time. `lost` is called once, with a reason, when the lease cannot be kept.
        """
        lease = self._acquire(key, generation, lost)
        try:
            yield lease is not None
        finally:
            if lease is not None:
                self._release(lease)

    def is_owned(self, key: str, generation: int) -> bool:
        """True if a process owns a step's generation now; one request when none does."""
        name = _name(key, generation)
        if name in self._held:
            return True
        found = self._objects.stat(name)
        return found is not None and not self._has_lapsed(name, found.generation)

    def token(self, key: str, generation: int) -> int:
        """The fencing token of our lease, greater than those of all owners before us; 0 when we hold none.

        Raises StoreError when it was lost.
        """
        lease = self._held.get(_name(key, generation))
        if lease is None:
            return 0
        if lease.reason:
            raise StoreError(f"Nothing more of the step {key} is stored: {lease.reason}.")
        return lease.token

    def waiting(self, key: str, generation: int) -> AbstractContextManager[None]:
        """Be counted among those who want a step's result, until the end of the block or of the process."""
        return self._waiting.joined(key, generation, self._renewing_waiting.start)

    def waiters(self, key: str, generation: int) -> int:
        """Count those that want a step's result now; two requests, and one for each process that waits."""
        return self._waiting.count(key, generation)

    def disown(self, finished: Collection[tuple[str, int]]) -> None:
        """Remove leases of finished steps that are not renewed: their owners were killed after the commit.

        One request when there is none; else a period's wait, as a living owner may be giving its lease back.
        """
        names = {_name(*step) for step in finished}
        if not (left := self._leases_of(names)):
            return
        self._clock.wait(threading.Event(), self._period)
        for name, generation in self._leases_of(names).items():
            if left.get(name) == generation:
                self._objects.delete(name, generation)

    def _leases_of(self, names: Collection[str]) -> dict[str, int]:
        """The leases of these names that there are, with their objects' generations."""
        return {found.name: found.generation for found in self._objects.walk(_FOLDER) if found.name in names}

    def sweep(self) -> None:
        """Remove what the dead have left, for steps that were not asked for again."""
        self._waiting.sweep()
        self._service.sweep(self._lapse)
        remove_older(self._objects, _FOLDER, self._service, LONG_DEAD_AFTER * self._period)

    def renew(self) -> None:
        """Renew what is due."""
        now = self._clock.monotonic()
        for lease in self._ours():
            if now - lease.renewed >= RENEWED_AFTER * self._period:
                with lease.busy, suppress(StoreError):  # the next round tries again
                    self._renew(lease)

    def renew_waiting(self) -> None:
        """Renew what counts those who wait; a process that waits for long enough sweeps once."""
        with suppress(StoreError):
            if self._waiting.renew(RENEWED_AFTER * self._period) and not self._swept:
                self._swept = True
                self.sweep()

    def watch(self) -> None:
        """Give up what could not be renewed in time."""
        now = self._clock.monotonic()
        for lease in self._ours():
            if now - lease.renewed >= GIVEN_UP_AFTER * self._period:
                self._mark_lost(lease, f"the lease could not be renewed for {now - lease.renewed:.0f} s")

    def confirm(self) -> None:
        """Renew at once what may have been lost while the machine slept; StoreError when that fails."""
        for lease in self._ours():
            with lease.busy:
                if self._clock.lasting() - lease.confirmed >= GIVEN_UP_AFTER * self._period:
                    self._renew(lease)

    def _ours(self) -> list[_Lease]:
        with self._guard:
            return [lease for lease in self._held.values() if not lease.reason]

    def _acquire(self, key: str, generation: int, lost: Callable[[str], None] | None) -> _Lease | None:
        name = _name(key, generation)
        if name in self._held:
            return None
        found = self._objects.read(name)
        if found is not None and not self._has_lapsed(name, found[1]):
            return None
        owner, asked, confirmed = _new_owner(), self._clock.monotonic(), self._clock.lasting()
        token = self._objects.replace(name, _contents(owner, 1), found[1] if found else 0)
        if token is None:
            return None
        lease = _Lease(name, owner, token, token, asked, confirmed, lost)
        with self._guard:
            self._seen.pop(name, None)
            self._held[name] = lease
        self._renewing.start()
        self._watching.start()
        return lease

    def _has_lapsed(self, name: str, generation: int) -> bool:
        """True if a lease has stayed unchanged for so long that its owner has given it up."""
        now = self._clock.monotonic()
        seen, since = self._seen.get(name, (0, now))
        if seen != generation:
            self._seen[name] = (generation, now)
            found = self._objects.stat(name)
            return found is not None and self._service.age(found) >= LONG_DEAD_AFTER * self._period
        return now - since >= self._lapse

    def _renew(self, lease: _Lease) -> None:
        if self._held.get(lease.name) is not lease:  # released meanwhile
            return
        for _ in range(2):
            asked, confirmed = self._clock.monotonic(), self._clock.lasting()
            generation = self._impatient.replace(lease.name, lease.next(), lease.generation)
            if generation is not None:
                lease.generation, lease.renewed, lease.confirmed = generation, asked, confirmed
                return
            found = self._impatient.read(lease.name)
            if found is None or not found[0].startswith(lease.owner):
                self._mark_lost(lease, "another worker has taken the step over")
                return
            lease.generation = found[1]  # an earlier renewal has worked, but its answer was lost

    def _mark_lost(self, lease: _Lease, reason: str) -> None:
        with self._guard:
            if lease.reason or self._held.get(lease.name) is not lease:
                return
            lease.reason = f"the ownership of the step was lost: {reason}"
            if lease.lost is not None:  # reported in here, where the lease is not released meanwhile
                lease.lost(lease.reason)

    def _release(self, lease: _Lease) -> None:
        with self._guard:
            del self._held[lease.name]
        if lease.busy.acquire(timeout=self._period):  # else a renewal hangs: the lease lapses by itself
            try:
                with suppress(StoreError):
                    self._impatient.delete(lease.name, lease.generation)
            finally:
                lease.busy.release()


def _new_owner() -> bytes:
    """Make the beginning of a lease's contents: its holder, for people; unlike any other lease."""
    owner = {"owner": uuid.uuid4().hex, "host": os.uname().nodename, "process": os.getpid()}
    return json.dumps(owner).encode()


def _contents(owner: bytes, written: int) -> bytes:
    return b"%b\n%d\n" % (owner, written)


def _name(key: str, generation: int) -> str:
    return f"{_FOLDER}{key}.{generation}"
