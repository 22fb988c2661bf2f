"""A bucket in memory as several machines see it, and clocks that only the test moves."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

from tests.memory_store import MemoryObjects
from translations_assets.common import background
from translations_assets.common.background import Join
from translations_assets.common.errors import StoreUnreachable
from translations_assets.store.bucket.objects import Stat


class Clock(background.Clock):
    """A clock that the test moves; every machine of a test has its own. What is started does not run.

    waits  is called with the seconds of each wait
    """

    def __init__(self, now: float = 0.0) -> None:
        self.now, self.slept = now, 0.0
        self.waits: Callable[[float], None] = lambda seconds: None

    def monotonic(self) -> float:
        return self.now

    def lasting(self) -> float:
        return self.now + self.slept

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.waits(seconds)
        return event.is_set()

    def start(self, name: str, work: Iterator[float], wake: threading.Event) -> Join:
        return lambda seconds: None


class Service(MemoryObjects):
    """The bucket itself.

    now             seconds by the service's clock
    away            nothing can be reached
    answers_lost    the next so many writes are done, but the answers are lost
    errors          what the next requests raise, one after the other
    requests        what was asked, in order
    """

    def __init__(self) -> None:
        super().__init__(lambda: int(self.now * 1e9))
        self.now = 1e9
        self.away = False
        self.answers_lost = 0
        self.errors: Iterator[Exception] = iter(())
        self.requests: list[str] = []

    def put(self, name: str, data: bytes, notes: Mapping[str, str] | None = None) -> int:
        """Write, as another machine does."""
        generation = super().put(name, data, notes)
        if self.answers_lost:
            self.answers_lost -= 1
            raise StoreUnreachable("The connection was lost.")
        return generation

    def names(self, prefix: str = "") -> list[str]:
        """Names of all objects."""
        return [found.name for found in self.walk(prefix)]


class FakeObjects(MemoryObjects):
    """A service in memory as one machine sees it; `cut` takes its network away."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.service = service
        self.cut = threading.Event()

    def _ask(self, what: str, name: str) -> None:
        self.service.requests.append(f"{what} {name}")
        for error in self.service.errors:
            raise error
        if self.service.away or self.cut.is_set():
            raise StoreUnreachable("The service is away.")

    def read(self, name: str) -> tuple[bytes, int] | None:
        """As the bucket's."""
        self._ask("read", name)
        return self.service.read(name)

    def replace(
        self, name: str, data: bytes, generation: int, notes: Mapping[str, str] | None = None
    ) -> int | None:
        """As the bucket's."""
        self._ask("replace", name)
        return self.service.replace(name, data, generation, notes)

    def write(self, name: str, data: bytes) -> None:
        """As the bucket's."""
        self._ask("write", name)
        self.service.write(name, data)

    def delete(self, name: str, generation: int | None = None, metageneration: int | None = None) -> bool:
        """As the bucket's."""
        self._ask("delete", name)
        return self.service.delete(name, generation, metageneration)

    def stat(self, name: str) -> Stat | None:
        """As the bucket's."""
        self._ask("stat", name)
        return self.service.stat(name)

    def walk(self, prefix: str) -> Iterator[Stat]:
        """As the bucket's."""
        self._ask("walk", prefix)
        return self.service.walk(prefix)
