"""What goes to the store while a script runs: its log, in parts, and its checkpoint sets."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from translations_assets.steps.errors import StoreError, StoreUnreachable
from translations_assets.steps.job import Job

if TYPE_CHECKING:
    from translations_assets.steps.protocols import Store

_PART_BYTES = 1 << 20
_PART_SECONDS = 4.0  # looked at once a second, so that no part is older than 5 s
_TAIL_BYTES = 16 << 10
_TAIL_LINES = 20


class StepLog:
    """The log file of an attempt, shipped to the store in parts of at most 5 s or 1 MB."""

    def __init__(self, path: Path, store: Store, job: Job) -> None:
        self._path, self._store, self._job = path, store, job
        self._notes: list[str] = []
        self._offset = 0
        self._part = sum(1 for _ in store.read_log(job.key, job.generation, job.attempt))
        self._due = time.monotonic() + _PART_SECONDS
        path.touch()

    def note(self, text: str) -> None:
        """Add a line of the worker's own; while the folder cannot be written it waits for a later one."""
        self._notes.append(f"[worker] {text}\n")
        self._write_notes()

    def _write_notes(self) -> None:
        with suppress(OSError), self._path.open("ab") as file:
            file.write("".join(self._notes).encode())
            self._notes = []

    def tail(self) -> str:
        """The last lines, if the folder can be read."""
        with suppress(OSError), self._path.open("rb") as file:
            file.seek(max(0, self._path.stat().st_size - _TAIL_BYTES))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-_TAIL_LINES:])
        return ""

    def ship_due(self) -> None:
        """Ship whole parts, and after 5 s whatever there is."""
        self._ship(everything=time.monotonic() >= self._due)

    def ship_all(self) -> None:
        """Ship what is left."""
        self._write_notes()
        self._ship(everything=True)

    def _ship(self, everything: bool) -> None:
        with self._path.open("rb") as file:
            file.seek(self._offset)
            while data := file.read(_PART_BYTES):
                if len(data) < _PART_BYTES and not everything:
                    break
                self._store.append_log(
                    self._job.key, self._job.generation, self._job.attempt, self._part, data
                )
                self._part += 1
                self._offset += len(data)
        if everything:
            self._due = time.monotonic() + _PART_SECONDS


class CheckpointWatch:
    """Commits the checkpoint sets that appear in a folder; those placed there at the start are known."""

    def __init__(self, folder: Path, store: Store, job: Job, log: StepLog) -> None:
        self._folder, self._store, self._job, self._log = folder, store, job, log
        self._known = set(store.place_checkpoints(job.key, job.generation, folder))
        if self._known:
            log.note(f"goes on from checkpoint sets {', '.join(sorted(self._known))}")

    def commit_new(self) -> None:
        """Commit each new set, oldest first; a set has its final name once it is complete."""
        for path in sorted(self._folder.iterdir()):
            if path.name not in self._known and not path.name.startswith(".") and path.is_dir():
                self._store.add_checkpoint(self._job.key, self._job.generation, path.name, path)
                self._known.add(path.name)
                self._log.note(f"stored checkpoint set {path.name}")


class Ticker(threading.Thread):
    """Does something again and again until told to stop. A store that fails is told of, and tried again.

    missed_store: the store could not be reached at some time.
    """

    def __init__(self, action: Callable[[], None], seconds: float, on_error: Callable[[str], None]) -> None:
        super().__init__(daemon=True)
        self._action, self._seconds, self._on_error = action, seconds, on_error
        self._stopped = threading.Event()
        self._last_error = ""
        self.missed_store = False

    def run(self) -> None:
        """The thread."""
        while not self._stopped.wait(self._seconds):
            self.tick()

    def stop(self) -> None:
        """End the thread, after what it is doing now."""
        self._stopped.set()
        self.join()

    def tick(self) -> None:
        """Do it once."""
        try:
            self._action()
        except (StoreError, OSError) as error:
            self.missed_store = self.missed_store or isinstance(error, StoreUnreachable)
            if str(error) != self._last_error:
                self._last_error = str(error)
                self._on_error(self._last_error)
