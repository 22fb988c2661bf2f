"""CPU and GPU slots, shared by all processes of the machine that use the same state folder.

A slot is a locked file. The worker inherits the lock, so a slot is freed when the last of runner and worker
has ended, however they end. Who wants slots of a kind queues for them, first in the process, then, at the
door file, among the processes; only the head of the queue takes slots, and waits until it has all it needs.
So two large requests cannot block each other, and a large one is not overtaken for ever by small ones.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from translations_assets.common.errors import TranslationsError
from translations_assets.running.tasks import Wake, Work
from translations_assets.store.locks import acquire

_HEAD_SECONDS = 0.02  # how often the head of the queue looks whether another process has freed a slot
_QUEUE_SECONDS = 60.0  # the others are woken when it is their turn


class Slots:
    """The machine's slots, as the processes that use `folder` share them."""

    def __init__(self, folder: Path, cpus: int, gpus: Sequence[str]) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TranslationsError(
                f"The state folder {folder} cannot be made: {error.strerror}. Choose another one."
            ) from error
        self._cpus = _Queue(folder, "cpu", [str(number) for number in range(cpus)])
        self._gpus = _Queue(folder, "gpu", gpus)

    @contextmanager
    def claim(self, cpus: int, gpus: int, wake: Wake) -> Iterator[Claim]:
        """Queue for so many slots, and hold those that are acquired, until the end of the block.

        wake  is called when slots may have become free
        """
        claim = Claim(_Place(self._gpus, gpus, wake), _Place(self._cpus, cpus, wake))
        try:
            yield claim
        finally:
            claim.release()


class Claim:
    """A claim on slots of both kinds, and the slots that are held.

    GPUs come first, always: a holder of CPU slots waits for no GPU.
    """

    def __init__(self, gpus: _Place, cpus: _Place) -> None:
        self._gpus, self._cpus = gpus, cpus

    def acquire(self, cancel: threading.Event) -> Work[bool]:
        """Wait until all slots are held; False when cancelled before."""
        for place in (self._gpus, self._cpus):
            while not cancel.is_set() and not place.acquire():
                yield _HEAD_SECONDS if place.is_head else _QUEUE_SECONDS
        return not cancel.is_set()

    @property
    def cpus(self) -> tuple[str, ...]:
        """The names of the CPU slots that are held."""
        return tuple(self._cpus.held)

    @property
    def gpus(self) -> tuple[str, ...]:
        """The ids of the GPUs that are held."""
        return tuple(self._gpus.held)

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The descriptors that keep the slots, for a worker to inherit."""
        return (*self._cpus.held.values(), *self._gpus.held.values())

    def hand_over(self) -> None:
        """Leave the slots to a worker that has inherited them and goes on without this process."""
        for place in (self._gpus, self._cpus):
            place.hand_over()

    def release(self) -> None:
        """Free slots whose worker has ended, and leave the queues."""
        for place in (self._gpus, self._cpus):
            place.release()


class _Queue:
    """The slots of one kind, and the places of those of this process who wait for them."""

    def __init__(self, folder: Path, kind: str, names: Sequence[str]) -> None:
        self.door = folder / f"{kind}.door"
        self.files = {name: folder / f"{kind}.{name}" for name in names}
        self.lock = threading.Lock()
        self.waiting: deque[_Place] = deque()


class _Place:
    """A place in a queue, and the slots that it holds, by name and descriptor."""

    def __init__(self, queue: _Queue, count: int, wake: Wake) -> None:
        self._queue, self._count, self.wake = queue, count, wake
        self._door: int | None = None
        self.held: dict[str, int] = {}

    @property
    def is_head(self) -> bool:
        """True if slots go to this place next."""
        return next(iter(self._queue.waiting), None) is self

    def acquire(self) -> bool:
        """Acquire free slots, as the head of the queue that is first at the door; whether it has all."""
        if len(self.held) == self._count:
            return True
        with self._queue.lock:
            if self not in self._queue.waiting:
                self._queue.waiting.append(self)
        if not self.is_head:
            return False
        if self._door is None:
            self._door = acquire(self._queue.door)
        if self._door is None or not self._gather():
            return False
        self._leave_queue()
        return True

    def hand_over(self) -> None:
        """Close the descriptors, but not the locks that a worker has inherited."""
        for descriptor in self.held.values():
            os.close(descriptor)
        self.held.clear()

    def release(self) -> None:
        """Free the slots; explicitly, for a forked child may have inherited the lock."""
        for descriptor in self.held.values():
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)
        self._leave_queue()

    def _gather(self) -> bool:
        for name, path in self._queue.files.items():
            wanted = len(self.held) < self._count and name not in self.held
            if wanted and (descriptor := acquire(path)) is not None:
                self.held[name] = descriptor
        return len(self.held) == self._count

    def _leave_queue(self) -> None:
        """Stop waiting, and have the head of the queue check for free slots."""
        if self._door is not None:
            os.close(self._door)
            self._door = None
        with self._queue.lock:
            with suppress(ValueError):
                self._queue.waiting.remove(self)
            head = next(iter(self._queue.waiting), None)
        if head:
            head.wake()
