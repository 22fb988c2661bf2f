"""CPU and GPU slots, shared by all processes of the machine that use the same state folder.

A slot is a locked file. The worker inherits the lock, so a slot is freed when the last of runner and worker
has ended, however they end. Whoever wants slots of a kind queues for them, first in the process, then, at the
door file, among the processes; only the head of the queue takes slots, and waits until it has all it needs.
So two large requests cannot block each other, and a large one is not overtaken for ever by small ones.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from translations_assets.errors import TranslationsError
from translations_assets.store.locks import take

_HEAD_SECONDS = 0.02  # how often the head of the queue looks whether another process has freed a slot
_QUEUE_SECONDS = 0.5  # how often the others look whether they are cancelled


@dataclass(frozen=True)
class Grant:
    """Slots that are held: the names of CPU and GPU slots, and the descriptors that keep them."""

    cpus: tuple[str, ...]
    gpus: tuple[str, ...]
    descriptors: tuple[int, ...]
    _taken: tuple[dict[str, int], ...]

    def leave(self) -> None:
        """Leave the slots to a worker that has inherited them and goes on without us."""
        for taken in self._taken:
            for descriptor in taken.values():
                os.close(descriptor)
            taken.clear()


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
    def held(self, cpus: int, gpus: int, cancel: threading.Event) -> Iterator[Grant | None]:
        """Wait for so many slots and hold them; None when cancelled before.

        GPUs come first, always: nobody who holds CPU slots waits for a GPU.
        """
        with self._gpus.held(gpus, cancel) as some_gpus, self._cpus.held(cpus, cancel) as some_cpus:
            if some_gpus is None or some_cpus is None:
                yield None
            else:
                descriptors = (*some_cpus.values(), *some_gpus.values())
                yield Grant(tuple(some_cpus), tuple(some_gpus), descriptors, (some_cpus, some_gpus))


class _Queue:
    """The slots of one kind and those who wait for them."""

    def __init__(self, folder: Path, kind: str, names: Sequence[str]) -> None:
        self._door = folder / f"{kind}.door"
        self._files = {name: folder / f"{kind}.{name}" for name in names}
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()

    @contextmanager
    def held(self, count: int, cancel: threading.Event) -> Iterator[dict[str, int] | None]:
        """Hold `count` slots, by name and descriptor; None when cancelled while waiting."""
        taken: dict[str, int] = {}
        try:
            yield taken if self._take(count, cancel, taken) else None
        finally:
            self._free(taken)

    def _take(self, count: int, cancel: threading.Event, taken: dict[str, int]) -> bool:
        if count == 0:
            return True
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            try:
                while not cancel.is_set() and self._waiting[0] is not ticket:
                    self._changed.wait(_QUEUE_SECONDS)
                return self._take_as_head(count, cancel, taken)
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()

    def _take_as_head(self, count: int, cancel: threading.Event, taken: dict[str, int]) -> bool:
        """Take slots as they become free, while this process is the first at the door."""
        door: int | None = None
        try:
            while not cancel.is_set():
                door = door if door is not None else take(self._door)
                if door is not None and self._gather(count, taken):
                    return True
                self._changed.wait(_HEAD_SECONDS)
            return False
        finally:
            if door is not None:
                os.close(door)

    def _gather(self, count: int, taken: dict[str, int]) -> bool:
        for name, path in self._files.items():
            if len(taken) < count and name not in taken and (descriptor := take(path)) is not None:
                taken[name] = descriptor
        return len(taken) == count

    def _free(self, taken: dict[str, int]) -> None:
        """Free slots whose worker has ended; explicitly, for a forked child may have inherited the lock."""
        for descriptor in taken.values():
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)
        with self._changed:
            self._changed.notify_all()
