"""A bucket in memory with the service's own conditions, and clocks that only the test moves."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from translations_assets.errors import StoreUnreachable
from translations_assets.store.gcs.objects import Objects, Stat


class Clock:
    """Seconds, monotonic; every machine of a test has its own."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


class Service:
    """The bucket itself.

    now             seconds by the service's clock
    away            nothing can be reached
    answers_lost    the next so many writes are done, but nobody is told
    requests        what was asked, in order
    """

    def __init__(self) -> None:
        self.now = 1e9
        self.away = False
        self.answers_lost = 0
        self.requests: list[str] = []
        self.guard = threading.RLock()
        self.found: dict[str, tuple[bytes, Stat]] = {}
        self._generation = 1000

    def put(self, name: str, data: bytes) -> int:
        """Write, whatever is there."""
        self._generation += 1
        time = int(self.now * 1e9)
        self.found[name] = (data, Stat(name, len(data), self._generation, 1, time, time))
        if self.answers_lost:
            self.answers_lost -= 1
            raise StoreUnreachable("The connection was lost.")
        return self._generation

    def names(self, prefix: str = "") -> list[str]:
        """What is there."""
        return sorted(name for name in self.found if name.startswith(prefix))


@dataclass(frozen=True)
class FakeObjects(Objects):
    """`Objects` over a service in memory, as one machine sees it; `cut` takes its network away."""

    service: Service = field(default_factory=Service)
    cut: threading.Event = field(default_factory=threading.Event)

    def _ask(self, what: str, name: str) -> None:
        self.service.requests.append(f"{what} {name}")
        if self.service.away or self.cut.is_set():
            raise StoreUnreachable("The service is away.")

    def read(self, name: str) -> tuple[bytes, int] | None:
        """As the bucket's."""
        self._ask("read", name)
        found = self.service.found.get(name)
        return (found[0], found[1].generation) if found else None

    def replace(self, name: str, data: bytes, generation: int) -> int | None:
        """As the bucket's."""
        self._ask("replace", name)
        with self.service.guard:
            found = self.service.found.get(name)
            if (found[1].generation if found else 0) != generation:
                return None
            return self.service.put(name, data)

    def write(self, name: str, data: bytes, notes: Mapping[str, str] | None = None) -> int:
        """As the bucket's."""
        self._ask("write", name)
        with self.service.guard:
            return self.service.put(name, data)

    def delete(self, name: str, generation: int | None = None, metageneration: int | None = None) -> bool:
        """As the bucket's."""
        self._ask("delete", name)
        with self.service.guard:
            found = self.service.found.get(name)
            if found is None or generation not in (None, found[1].generation):
                return False
            del self.service.found[name]
            return True

    def stat(self, name: str) -> Stat | None:
        """As the bucket's."""
        self._ask("stat", name)
        found = self.service.found.get(name)
        return found[1] if found else None

    def walk(self, prefix: str) -> Iterator[Stat]:
        """As the bucket's."""
        self._ask("walk", prefix)
        with self.service.guard:
            found = [self.service.found[name][1] for name in self.service.names(prefix)]
        return iter(found)
