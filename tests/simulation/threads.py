"""Threads, clocks and chance of a simulation, in the place of Python's in the modules of this project."""

from __future__ import annotations

import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, TypeVar
from unittest.mock import patch

from tests.simulation.kernel import EPOCH, Event, Kernel
from translations_assets.common import background
from translations_assets.store.bucket import leases, waiting

T = TypeVar("T")

PACKAGE = "translations_assets"


class Lock:
    """A `threading.Lock`, or with `again` an `RLock`."""

    def __init__(self, kernel: Kernel, *, again: bool = False) -> None:
        self._kernel, self._again = kernel, again
        self._owner: object = None
        self._depth = 0
        self._waiting: deque[Event] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquire it; False when it cannot be, or not in time."""
        me = self._kernel.task
        if self._again and self._owner is me and self._depth:
            self._depth += 1
            return True
        while self._depth:
            if not blocking or self._kernel.is_over:
                return self._kernel.is_over
            freed = Event(self._kernel)
            self._waiting.append(freed)
            if not freed.wait(None if timeout < 0 else timeout) and timeout >= 0:
                self._waiting.remove(freed)
                return False
        self._owner, self._depth = me, 1
        return True

    def release(self) -> None:
        """Release it."""
        self._depth = max(0, self._depth - 1)
        if not self._depth and self._waiting:
            self._waiting.popleft().set()

    def locked(self) -> bool:
        """True if it is held."""
        return self._depth > 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class Result(Future[T]):
    """A future that a task can wait for."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__()
        self._ready = Event(kernel)
        self.add_done_callback(lambda _: self._ready.set())

    def result(self, timeout: float | None = None) -> T:
        """The result; raises what the call raised."""
        self._ready.wait(timeout)
        return super().result(0)


class Pool(Executor):
    """A pool of threads: each call is a task of the process that submits it."""

    def __init__(self, kernel: Kernel, name: str = "pool") -> None:
        self._kernel, self._name = kernel, name
        self._left: list[Result[Any]] = []

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Result[T]:
        """Begin a call."""
        result: Result[T] = Result(self._kernel)
        self._left.append(result)

        def work() -> None:
            try:
                value = fn(*args, **kwargs)
            except Exception as error:
                result.set_exception(error)
            else:
                result.set_result(value)

        self._kernel.spawn(self._kernel.process, self._name, work)
        return result

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for all calls."""
        for result in self._left if wait and not self._kernel.is_over else ():
            result._ready.wait()


class Inline(Executor):
    """A pool of threads for look-ups, which are made one after the other."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Make a call."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future

    def map(
        self,
        fn: Callable[..., T],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
    ) -> Iterator[T]:
        """Call a function for items, when its result is asked for."""
        return map(fn, *iterables)


@dataclass(frozen=True)
class _Clocks:
    """The clock's methods, and those of the module `time`, by the machine of the process that asks."""

    kernel: Kernel

    def time(self, *_: object) -> float:
        machine = self.kernel.process.machine
        return EPOCH + self.kernel.now + machine.offset

    def time_ns(self) -> int:
        return int(self.time() * 1e9)

    def monotonic(self, *_: object) -> float:
        return self.kernel.process.clock

    def lasting(self, *_: object) -> float:
        return self.kernel.now * self.kernel.process.machine.rate

    def sleep(self, seconds: float) -> None:
        self.kernel.pause(seconds / self.kernel.process.machine.rate)

    def wait(self, event: Event, seconds: float) -> bool:
        if isinstance(event, threading.Event):
            raise AssertionError("an event was made outside of the simulation")
        return event.wait(seconds)

    def start(self, name: str, work: Iterator[float], wake: Event) -> Callable[[float | None], object]:
        ended = Event(self.kernel)

        def run() -> None:
            for pause in work:
                wake.wait(pause)
            ended.set()

        self.kernel.spawn(self.kernel.process, name, run)
        return ended.wait

    def pool(self, size: int, name: str) -> Executor:
        return Pool(self.kernel, name)


def _methods(clocks: _Clocks) -> dict[str, Any]:
    """The methods of a clock that does not know which machine it is on."""
    names = ("time", "monotonic", "lasting", "wait", "start", "pool")
    return {name: staticmethod(getattr(clocks, name)) for name in names}


def _module(original: ModuleType, **ours: object) -> ModuleType:
    """A module of which some names mean something else."""
    made = ModuleType(original.__name__)
    made.__dict__.update(vars(original))
    made.__dict__.update(ours)
    return made


def _pool(kernel: Kernel, inline: Executor | None, *_: object, **__: object) -> Executor:
    return inline or Pool(kernel)


def _of_kernel(original: type[T], name: str, make: Callable[[], object]) -> type[T]:
    """A dataclass of which a field is made by something else."""

    def init(self: T, *args: object, **kwargs: object) -> None:
        original.__init__(self, *args, **kwargs)
        setattr(self, name, make())

    return type(original.__name__, (original,), {"__init__": init})


@contextmanager
def in_simulation(kernel: Kernel) -> Iterator[None]:
    """Within the block the modules of this project have the simulation's threads, clocks and chance."""
    clocks = _Clocks(kernel)
    ours: dict[str, tuple[object, object]] = {
        "threading": (
            threading,
            _module(
                threading,
                Event=partial(Event, kernel),
                Lock=partial(Lock, kernel),
                RLock=partial(Lock, kernel, again=True),
            ),
        ),
        "time": (
            time,
            _module(
                time,
                time=clocks.time,
                time_ns=clocks.time_ns,
                monotonic=clocks.monotonic,
                sleep=clocks.sleep,
            ),
        ),
        "uuid": (
            uuid,
            _module(uuid, uuid4=lambda: uuid.UUID(int=kernel.random.getrandbits(128), version=4)),
        ),
    }
    changed: list[tuple[ModuleType, str, object]] = []
    for module in [module for name, module in sys.modules.items() if name.split(".")[0] == PACKAGE]:
        inline = Inline() if ".store." in module.__name__ or ".resolve" in module.__name__ else None
        pool = (ThreadPoolExecutor, partial(_pool, kernel, inline))
        for name, (original, mine) in {**ours, "ThreadPoolExecutor": pool}.items():
            if vars(module).get(name) is original:
                changed.append((module, name, original))
                setattr(module, name, mine)
    try:
        with (
            patch.multiple(background.Clock, **_methods(clocks)),
            patch.object(leases, "_Lease", _of_kernel(leases._Lease, "busy", lambda: Lock(kernel))),
            patch.object(
                waiting, "_Session", _of_kernel(waiting._Session, "begun", lambda: Result[None](kernel))
            ),
        ):
            yield
    finally:
        for module, name, original in changed:
            setattr(module, name, original)
