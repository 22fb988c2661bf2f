"""The service that keeps the objects of a bucket, and the requests of processes, which may go wrong."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar, get_args

from tests.memory_store import MemoryObjects
from tests.simulation.kernel import EPOCH, Kernel, Machine, Process
from translations_assets.common.errors import StoreUnreachable
from translations_assets.store.bucket.objects import Objects, Stat
from translations_assets.store.contents import Digests

T = TypeVar("T")

Fault = Literal[
    "slow",  # the answer comes, after up to minutes
    "refused",  # nothing is done, for longer than the client is patient
    "lost",  # it is done; the client gets no answer, for longer than it is patient
    "late",  # the client gets no answer, and it is done after the client has given up
    "repeated",  # it is done, the answer is lost, and the client asks again
    "killed before",  # the process dies, and nothing is done
    "killed after",  # it is done, and the process dies
    "cut",  # the machine's network fails for minutes
]
FAULTS: tuple[Fault, ...] = get_args(Fault)
PATIENCE = 60.0  # seconds for which a client repeats a request
PAGE = 3  # objects that one request lists
WRITES = frozenset({"create", "replace", "write", "upload", "copy", "delete", "touch"})


def full_disk() -> OSError:
    """The error of a write to a disk without room."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@dataclass
class Faults:
    """The faults of a schedule, by the number of the request that each befalls.

    met  how often each befell which request
    """

    at: Mapping[int, Fault]
    requests: int = 0
    met: Counter[tuple[str, str]] = field(default_factory=Counter)

    def next(self, kind: str) -> Fault | None:
        """The fault of the next request."""
        fault = self.at.get(self.requests)
        self.requests += 1
        if fault in ("late", "repeated") and kind not in WRITES:
            fault = "lost"
        self.met[kind, fault or "none"] += 1
        return fault


@dataclass
class Service:
    """A bucket and who uses it.

    after  called after each request that may have changed something, with its kind, name and process
    """

    kernel: Kernel
    faults: Faults
    after: Callable[[str, str, Process], None] = lambda kind, name, process: None
    trace: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        self.objects = MemoryObjects(lambda: int((EPOCH + self.kernel.now) * 1e9))
        self.network = self.kernel.start(
            "network", Machine("network")
        )  # ends with nobody who has sent something

    def of(self, process: Process) -> Requests:
        """The bucket as a process sees it."""
        return Requests(self, process, PATIENCE)

    def cut(self, machine: Machine, seconds: float) -> None:
        """Cut a machine off for a while."""
        machine.is_cut = True

        def heal() -> None:
            machine.is_cut, machine.healed = False, self.kernel.now

        self.kernel.spawn(self.network, "heal", heal, seconds)


class Requests(Objects):
    """The bucket as a process sees it: every request takes time, and may go wrong."""

    def __init__(self, service: Service, process: Process, patience: float) -> None:
        self._service, self._process, self._patience = service, process, patience
        self._kernel, self._objects = service.kernel, service.objects

    @property
    def url(self) -> str:
        """A name for people."""
        return "memory://bucket"

    def hurried(self, seconds: float) -> Requests:
        """The same with less patience."""
        return Requests(self._service, self._process, seconds)

    def read(self, name: str) -> tuple[bytes, int] | None:
        """An object's contents and generation."""
        return self._ask("read", name, lambda: self._objects.read(name))

    def create(self, name: str, data: bytes) -> bool:
        """Write an object that is not there yet."""
        return self._ask(
            "create", name, lambda: self._objects.create(name, data), lambda: self._has(name, data)
        )

    def replace(
        self, name: str, data: bytes, generation: int, notes: Mapping[str, str] | None = None
    ) -> int | None:
        """Write an object in place of a generation."""

        def again() -> int | None:
            found = self._objects.read(name)
            return found[1] if found and found[0] == data else None

        return self._ask("replace", name, lambda: self._objects.replace(name, data, generation, notes), again)

    def write(self, name: str, data: bytes) -> None:
        """Write an object, whatever is there."""
        self._ask("write", name, lambda: self._objects.write(name, data))

    def upload(self, path: Path, name: str, digests: Digests) -> bool:
        """Write a file's contents to an object."""
        data = path.read_bytes()  # the file may be gone when a late request is done
        return self._ask(
            "upload", name, lambda: self._objects.create(name, data), lambda: self._has(name, data)
        )

    def read_range(self, found: Stat, start: int, end: int) -> bytes:
        """Bytes of the object that was found, which a worker writes to its disk."""
        if self._process.name.startswith("worker") and not self._process.has_disk:
            raise full_disk()
        return self._ask("read_range", found.name, lambda: self._objects.read_range(found, start, end))

    def copy(self, name: str, target: str, *, replace: bool = True) -> bool:
        """Write an object's contents under another name."""
        return self._ask("copy", target, lambda: self._objects.copy(name, target, replace=replace))

    def delete(self, name: str, generation: int | None = None, metageneration: int | None = None) -> bool:
        """Remove an object, if it still is what was seen."""
        return self._ask("delete", name, lambda: self._objects.delete(name, generation, metageneration))

    def touch(self, name: str) -> bool:
        """Set the time of an object's last change to now."""
        return self._ask("touch", name, lambda: self._objects.touch(name))

    def stat(self, name: str) -> Stat | None:
        """Facts about an object."""
        return self._ask("stat", name, lambda: self._objects.stat(name))

    def walk(self, prefix: str) -> Iterator[Stat]:
        """The objects whose names begin with a prefix, page by page: each as it is when it is asked for."""
        last = ""
        while True:
            page = self._ask("walk", prefix, partial(self._page, prefix, last))
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1].name

    def _page(self, prefix: str, last: str) -> list[Stat]:
        return [found for found in self._objects.walk(prefix) if found.name > last][:PAGE]

    def folder(self, folder: str) -> tuple[list[Stat], list[str]]:
        """List the objects and folders directly below a folder."""
        return self._ask("folder", folder, lambda: self._objects.folder(folder))

    def _has(self, name: str, data: bytes) -> bool:
        found = self._objects.read(name)
        return bool(found and found[0] == data)

    def _ask(self, kind: str, name: str, act: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        """Do a request; `again` is the answer to a repeated one, where that is not the same request."""
        kernel = self._kernel
        fault = self._service.faults.next(kind)
        if self._service.trace:
            self._service.trace(f"{self._process.name}: {kind} {name}{f' [{fault}]' if fault else ''}")
        if fault == "cut":
            self._service.cut(self._process.machine, kernel.random.uniform(1.0, 3 * PATIENCE))
        kernel.pause(kernel.random.expovariate(20.0))
        if fault == "slow":
            kernel.pause(kernel.random.uniform(0.0, 2 * PATIENCE))
        if fault == "killed before":
            self._kill()
        if fault == "late":
            kernel.spawn(self._service.network, "late", lambda: self._do(kind, name, act), self._delay())
        if fault in ("refused", "late"):
            self._give_up(name)
        self._reach(name)
        value = self._do(kind, name, act)
        if fault == "killed after":
            self._kill()
        if fault == "lost":
            self._give_up(name)
        kernel.pause(kernel.random.expovariate(20.0))
        if fault == "repeated":
            value = self._do(kind, name, act) if again is None else again()
        return value

    def _do(self, kind: str, name: str, act: Callable[[], T]) -> T:
        value = act()
        self._service.after(kind, name, self._process)
        return value

    def _delay(self) -> float:
        return self._patience + self._kernel.random.uniform(0.0, PATIENCE)

    def _reach(self, name: str) -> None:
        """Wait while the machine is cut off, for as long as the client is patient."""
        until = self._kernel.now + self._patience
        while self._process.machine.is_cut:
            self._kernel.pause(1.0)
            if self._kernel.now >= until:
                raise StoreUnreachable(f"The bucket does not answer about {name}.")

    def _give_up(self, name: str) -> None:
        self._kernel.pause(self._patience)
        raise StoreUnreachable(f"The bucket does not answer about {name}.")

    def _kill(self) -> None:
        self._process.end()
        self._kernel.vanish()
