"""How old objects are, by the service's clock, which stamps them: no machine's clock matters."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress

from translations_assets.errors import StoreError, StoreUnreachable
from translations_assets.store.bucket.objects import Objects, Stat

_GOOD_SECONDS = 600.0  # then it is asked for again: a machine that sleeps stops its own clock
_FOLDER = "clock/"


class ServiceClock:
    """Tells ages of objects; asks for the time seldom, by writing an object, and goes on by our own clock.

    clock  seconds, never set back or forth
    """

    def __init__(self, objects: Objects, clock: Callable[[], float]) -> None:
        self._objects, self._clock = objects, clock
        self._known: tuple[int, float] | None = None  # the service's time in ns, and ours

    def age(self, found: Stat) -> float:
        """Seconds since an object was last changed; if anything too few, by what an answer takes."""
        if self._known is None or self._clock() - self._known[1] > _GOOD_SECONDS:
            self._known = self._ask()
        written, answered = self._known
        return (written - found.modified) / 1e9 + self._clock() - answered

    def _ask(self) -> tuple[int, float]:
        name = f"{_FOLDER}{uuid.uuid4().hex}"
        generation = self._objects.write(name, b"")
        answered = self._clock()
        found = self._objects.stat(name)
        with suppress(StoreError):
            self._objects.delete(name, generation)
        if found is None:
            raise StoreUnreachable(f"The store {self._objects.url} does not keep what is written to it.")
        return found.modified, answered

    def sweep(self, seconds: float) -> None:
        """Remove what those have left who were killed while they asked, and is so old."""
        remove_older(self._objects, _FOLDER, self, seconds)


def remove_older(objects: Objects, prefix: str, clock: ServiceClock, seconds: float) -> None:
    """Remove the objects below a prefix that were not written for so long."""
    for found in objects.walk(prefix):
        if clock.age(found) >= seconds:
            objects.delete(found.name, found.generation)
