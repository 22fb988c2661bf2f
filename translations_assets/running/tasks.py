"""Work that waits without a thread: generators, which yield while they have nothing to do; and patience with
a store that cannot be reached, which is asked again for a while.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

from translations_assets.common.background import CLOCK, Clock
from translations_assets.common.errors import StoreUnreachable

if TYPE_CHECKING:
    from concurrent.futures import Executor


T = TypeVar("T")
K = TypeVar("K")

Work: TypeAlias = Generator[float, None, T]
"""Work with a result. It yields how many seconds it waits at most: it may be resumed earlier."""

Wake = Callable[[], None]
"""Has a work resumed soon; may be called from any thread, at any time."""


def at_once(action: Callable[[], T]) -> Work[T]:
    """Work that does not wait."""
    return action()
    yield 0.0


def pause(seconds: float, ends: Callable[[], bool], clock: Clock = CLOCK) -> Work[None]:
    """Work that waits for so long, or until it ends earlier."""
    end = clock.monotonic() + seconds
    while (left := end - clock.monotonic()) > 0 and not ends():
        yield left


def finish(work: Work[T], wait: Callable[[float], object]) -> T:
    """Do a work in this thread; `wait` is called where it waits."""
    try:
        while True:
            wait(next(work))
    except StopIteration as end:
        result: T = end.value
        return result


@dataclass(eq=False)
class _Task(Generic[K, T]):
    """A work under way: when it is due, and whether it is being done."""

    key: K
    work: Work[T]
    due: float
    busy: bool = False
    woken: bool = False
    result: T | None = None


class Tasks(Generic[K, T]):
    """Works under way, each with a key. One that waits costs no thread; what is due is done in a pool.

    Used by one thread. A work must not raise. What wakes a work costs the same however many there are.

    changed  set when something is to do for `advance`
    """

    def __init__(self, pool: Executor, clock: Clock) -> None:
        self._pool, self._clock = pool, clock
        self._tasks: dict[_Task[K, T], None] = {}
        self._woken: deque[_Task[K, T]] = deque()  # filled by other threads, as the next two
        self._paused: deque[_Task[K, T]] = deque()
        self._ended: deque[_Task[K, T]] = deque()
        self._due: list[tuple[float, int, _Task[K, T]]] = []  # a heap
        self._numbers = itertools.count()
        self.changed = threading.Event()

    def __len__(self) -> int:
        return len(self._tasks)

    def add(self, key: K, begin: Callable[[Wake], Work[T]]) -> None:
        """Begin a work, which is given what wakes it."""
        task: _Task[K, T] = _Task(key, begin(lambda: self._wake(task)), self._clock.monotonic())
        self._tasks[task] = None
        self._wake(task)

    def wake(self) -> None:
        """Have all of them resumed."""
        for task in self._tasks:
            self._wake(task)

    @property
    def pause(self) -> float:
        """Seconds until something is due."""
        while self._paused:
            task = self._paused.popleft()
            heapq.heappush(self._due, (task.due, next(self._numbers), task))
        while self._due and not self._counts(self._due[0]):
            heapq.heappop(self._due)
        return max(0.0, self._due[0][0] - self._clock.monotonic()) if self._due else 60.0

    def _counts(self, entry: tuple[float, int, _Task[K, T]]) -> bool:
        """True if a task still waits for that moment: it may have been woken, or have ended."""
        due, _, task = entry
        return task in self._tasks and not task.busy and due == task.due

    def advance(self) -> Iterator[tuple[K, T]]:
        """Start what is due, in the pool; keys and results of the works that have ended."""
        self.changed.clear()
        due = []
        while self.pause == 0.0:
            due.append(heapq.heappop(self._due)[-1])
        for task in due:
            task.woken = True
            self._start(task)
        for _ in range(len(self._woken)):
            self._start(self._woken.popleft())
        while self._ended:
            task = self._ended.popleft()
            del self._tasks[task]
            yield task.key, cast(T, task.result)

    def _wake(self, task: _Task[K, T]) -> None:
        task.woken = True
        self._woken.append(task)
        self.changed.set()

    def _start(self, task: _Task[K, T]) -> None:
        """Resume a task that was woken, unless it is being done: then it is looked at again afterwards."""
        if task.woken and not task.busy and task in self._tasks:
            task.busy, task.woken = True, False
            self._pool.submit(self._resume, task)

    def _resume(self, task: _Task[K, T]) -> None:
        try:
            task.due = self._clock.monotonic() + next(task.work)
        except StopIteration as end:
            task.result = end.value
            self._ended.append(task)
        else:
            task.busy = False  # before it is put among those that pause, which are looked at at any time
            self._paused.append(task)
            if task.woken:
                self._woken.append(task)
        self.changed.set()


RUN_SECONDS = 300.0  # what a run waits for
RESULT_SECONDS = 600.0  # what a finished script's result waits for
FIRST_PAUSE = 1.0  # seconds; doubles up to the last one
LAST_PAUSE = 15.0


def when_reachable(
    action: Callable[[], T],
    limit: float,
    wait: Callable[[float], bool],
    tell: Callable[[str], None],
    clock: Clock = CLOCK,
) -> T:
    """Do something that needs the store, in this thread; see `patiently`.

    wait  pauses for so many seconds; True when the result is not needed any more, which ends it as well
    """
    unneeded = False

    def pause(seconds: float) -> None:
        nonlocal unneeded
        unneeded = wait(seconds)

    return finish(patiently(lambda: at_once(action), limit, lambda: unneeded, tell, clock), pause)


def patiently(
    begin: Callable[[], Work[T]],
    limit: float,
    unneeded: Callable[[], bool],
    tell: Callable[[str], None],
    clock: Clock = CLOCK,
) -> Work[T]:
    """Do a work that needs the store; while that cannot be reached, tell it once, wait, and do it again.

    limit     seconds of pauses after which StoreUnreachable is raised; they are counted from the beginning
              after a work that itself took so long
    unneeded  whether the result is not needed any more, which raises it, too
    """
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        began = clock.monotonic()
        try:
            return (yield from begin())
        except StoreUnreachable as error:
            if clock.monotonic() - began > limit:
                waited, pause = 0.0, FIRST_PAUSE
            if waited == 0:
                tell(f"{error} Waiting for it, at most {limit / 60:.0f} minutes.")
            if waited >= limit:
                raise
            yield pause
            if unneeded():
                raise
            waited += pause
            pause = min(2 * pause, LAST_PAUSE)
