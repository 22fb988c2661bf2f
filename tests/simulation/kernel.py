"""The kernel of a simulation: tasks in one thread, on virtual time, in an order that a seed decides.

A task runs until it waits. While it does not, no other runs: so each request to the service waits before and
after its effect (`service.py`), and what threads and processes do meanwhile can happen there, in any order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from greenlet import GreenletExit, getcurrent, greenlet

EPOCH = 1.8e9  # seconds since 1970 at which simulations begin
LEAST = 1e-3  # seconds that a wait takes at least


@dataclass(eq=False)
class Machine:
    """A machine with clocks of its own.

    offset        seconds by which its wall clock is ahead
    rate          seconds of its clocks in a second
    slept         seconds for which its monotonic clock stood still
    paused_until  nothing on it runs before
    full_until    its disk has no room before
    is_cut        nothing can be reached from it
    healed        when it was last cut off no more
    """

    name: str
    offset: float = 0.0
    rate: float = 1.0
    slept: float = 0.0
    paused_until: float = 0.0
    full_until: float = 0.0
    is_cut: bool = False
    healed: float = 0.0


@dataclass(eq=False)
class Process:
    """A process on a machine. One that is killed never goes on, and cleans nothing up.

    ended   set at its end, however that comes
    script_began, script_ended  of a worker, by `clock`
    """

    name: str
    machine: Machine
    ended: Event
    started: float
    is_alive: bool = True
    script_began: float | None = None
    script_ended: float | None = None

    @property
    def has_disk(self) -> bool:
        """True while its machine's disk has room."""
        return self.ended.kernel.now >= self.machine.full_until

    @property
    def clock(self) -> float:
        """Seconds on its machine's clock that only goes on."""
        return (self.ended.kernel.now - self.machine.slept) * self.machine.rate

    def end(self) -> None:
        """End it now."""
        self.is_alive = False
        self.ended.set()


@dataclass(eq=False)
class Task:
    """A thread of a process; `ticket` numbers what it waits for, so that an earlier moment counts no more."""

    process: Process
    name: str
    greenlet: greenlet
    ticket: int = 0
    waits_for: tuple[Event, ...] = ()


@dataclass(eq=False)
class Event:
    """A `threading.Event`."""

    kernel: Kernel
    waiting: list[Task] = field(default_factory=list)
    _is_set: bool = False

    def is_set(self) -> bool:
        """True if it is set."""
        return self._is_set

    def set(self) -> None:
        """Set it, and wake who waits for it."""
        self._is_set = True
        waiting, self.waiting = self.waiting, []
        for task in waiting:
            if self in task.waits_for:
                self.kernel.wake(task)

    def clear(self) -> None:
        """Let it be waited for again."""
        self._is_set = False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is set, at most so long; True if it is."""
        self.kernel.wait((self,), timeout)
        return self._is_set


class Kernel:
    """Tasks, and the time.

    now     seconds since `EPOCH`
    random  the source of all chance
    task    the task that runs; None while the kernel itself does
    """

    def __init__(self, seed: int) -> None:
        self.now, self.random = 0.0, Random(seed)
        self.switches = 0
        self._due: list[tuple[float, float, int, Task]] = []
        self._hub = getcurrent()
        self._tasks: dict[Task, None] = {}  # in the order in which they began
        self.task: Task | None = None
        self._failed: BaseException | None = None
        self.is_over = False

    @property
    def process(self) -> Process:
        """The process that runs."""
        task = self.task
        assert task is not None
        return task.process

    def fail(self, error: BaseException) -> None:
        """End the simulation with an error, even if the task that met it goes on."""
        self._failed = self._failed or error

    def start(self, name: str, machine: Machine) -> Process:
        """Begin a process, without any task."""
        return Process(name, machine, Event(self), self.now)

    def spawn(self, process: Process, name: str, work: Callable[[], object], delay: float = 0.0) -> None:
        """Begin a task. What it raises ends the simulation."""

        def main() -> None:
            try:
                work()
            except GreenletExit:
                pass
            except BaseException as error:
                self.fail(error)
            finally:
                self._tasks.pop(task, None)

        task = Task(process, name, greenlet(main, self._hub))
        self._tasks[task] = None
        self._schedule(task, self.now + delay)

    def pause(self, seconds: float) -> None:
        """Let the task wait for so many seconds."""
        if not self.is_over:
            task = self.task
            assert task is not None
            self._schedule(task, self.now + seconds)
        self._leave()

    def vanish(self) -> None:
        """Never go on: the task's process was killed."""
        self._leave()

    def wait(self, events: Sequence[Event], seconds: float | None = None) -> None:
        """Let the task wait until one of some events is set, at most so long by its machine's clock."""
        if any(event._is_set for event in events):
            return
        if self.is_over:
            raise GreenletExit
        task = self.task
        assert task is not None
        task.waits_for = tuple(events)
        for event in events:
            event.waiting.append(task)
        if seconds is not None:
            self._schedule(task, self.now + max(LEAST, seconds) / task.process.machine.rate)
        self._leave()
        task.waits_for = ()
        for event in events:
            if task in event.waiting:
                event.waiting.remove(task)

    def wake(self, task: Task) -> None:
        """Let a task go on that waits for an event."""
        self._schedule(task, self.now)

    def run(self, until: Callable[[], bool], limit: float) -> bool:
        """Run tasks until something holds, at most to a moment; True if it holds."""
        while not until():
            if not self._due or self._due[0][0] > limit:
                self.now = max(self.now, limit)
                return until()
            moment, _, ticket, task = heapq.heappop(self._due)
            if ticket != task.ticket or not task.process.is_alive:
                continue
            if moment < task.process.machine.paused_until:
                self._schedule(task, task.process.machine.paused_until + self.random.random())
                continue
            self.now = max(self.now, moment)
            task.ticket += 1
            self.switches += 1
            self.task = task
            task.greenlet.switch()
            self.task = None
            if self._failed:
                raise self._failed
        return True

    def close(self) -> None:
        """End all tasks; what they do to clean up waits for nothing, and reaches nothing."""
        self.is_over = True
        for task in [*self._tasks]:
            if task.greenlet:  # begun, and not at its end
                self.task = task
                task.greenlet.throw(GreenletExit)
        self.task = None
        self._tasks.clear()
        self._due.clear()

    def _schedule(self, task: Task, moment: float) -> None:
        task.ticket += 1
        heapq.heappush(self._due, (moment, self.random.random(), task.ticket, task))

    def _leave(self) -> None:
        if self.is_over:
            raise GreenletExit
        self._hub.switch()
        if self.is_over:
            raise GreenletExit
