"""Publishing while a script runs, without secrets: its log, its checkpoint sets, its live numbers."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from translations_assets.common.background import CLOCK, Clock
from translations_assets.runners.wire import Reply, pack_reply
from translations_assets.running.job import Job
from translations_assets.running.reading import is_read
from translations_assets.store.contents import clone

if TYPE_CHECKING:
    from translations_assets.running.protocols import Store

HIDDEN = b"***"
_SHORTEST = 4  # a value below that is no secret, and would be found everywhere
_PART_BYTES = 1 << 20
# A part is as long as a fiftieth of the attempt's age, from four seconds to two minutes: a week of training
# makes some 5,000 objects, in place of 130,000. While somebody reads the log all are short. The first one
# comes sooner: it shows that the script has started.
_SHORT_SECONDS, _LONG_SECONDS, _SHARE = 4.0, 120.0, 1 / 50
FIRST_SECONDS = 1.0
_LOOK_SECONDS = 30.0  # between two looks whether somebody reads it
_SHOWN_BYTES = 64 << 10
_TAIL_BYTES = 16 << 10
_TAIL_LINES = 20
_HELD = ".held"  # the set that is being stored


def part_seconds(age: float) -> float:
    """The length of a log's part, given the age of the attempt."""
    return min(max(_SHORT_SECONDS, age * _SHARE), _LONG_SECONDS)


def secrets_of(job: Job, outer: Mapping[str, str]) -> dict[str, str]:
    """The variables that a job names, with their values, as far as the worker has them."""
    return {name: outer[name] for name in job.secrets if name in outer}


class Redaction:
    """Puts `***` in place of secret values, written plainly or as in JSON.

    longest  bytes of the longest text that is hidden
    """

    def __init__(self, values: Sequence[str]) -> None:
        plain = [value.strip() for value in values]  # a secret made from a file ends with a newline
        written = {form for value in plain for form in (value, json.dumps(value)[1:-1])}
        self._hidden = sorted((form.encode() for form in written if len(form) >= _SHORTEST), key=len)[::-1]
        self._pattern = re.compile(b"|".join(map(re.escape, self._hidden))) if self._hidden else None
        self.longest = max(map(len, self._hidden), default=0)

    def hide(self, data: bytes) -> bytes:
        """The same without secrets; never longer than before."""
        return self._pattern.sub(HIDDEN, data) if self._pattern else data

    def hide_part(self, data: bytes) -> tuple[bytes, int]:
        """Redact a growing text's new end; return the part to show, and the bytes that it stands for.

        The rest may be the beginning of a secret: it is to be given again, with what follows.
        """
        if not self._pattern:
            return data, len(data)
        end = self._open_end(data)
        for match in self._pattern.finditer(data):
            if match.start() < end:
                end = max(end, match.end())
        return self.hide(data[:end]), end

    def _open_end(self, data: bytes) -> int:
        """Return the start of the longest end of the data that is the beginning of a secret."""
        for start in range(max(0, len(data) - self.longest + 1), len(data)):
            if any(secret.startswith(data[start:]) for secret in self._hidden):
                return start
        return len(data)


class _Piece(NamedTuple):
    """A part of a log: its text, the bytes of the file that it stands for, what goes with it, and of how many
    replies that is.
    """

    text: bytes
    size: int
    said: bytes
    replies: int


class StepLog:
    """The log file of an attempt, shipped to the store in parts, without secrets.

    They grow with the attempt's age, up to two minutes or 1 MB. The worker's replies go with them.

    pod   name of the worker's pod, by which its replies are told from those of a pod before it
    show  gets the log, too, within a second
    """

    def __init__(
        self,
        path: Path,
        store: Store,
        job: Job,
        redaction: Redaction,
        pod: str = "",
        show: Callable[[bytes], None] | None = None,
        clock: Clock = CLOCK,
    ) -> None:
        self._path, self._store, self._job, self._redaction, self._clock = path, store, job, redaction, clock
        self._pod, self._show = pod, show
        self._notes: list[str] = []
        self._replies: list[bytes] = []
        self._unsent: _Piece | None = None  # goes again as it was: a store that was away may have it
        self._offset = self._shown = self._parts = 0
        self._began = self._shipped = self._looked = clock.monotonic()
        self._is_read = False
        path.touch(mode=0o600)  # it holds what the script prints, secrets, too

    def note(self, text: str) -> None:
        """Add a line of the worker's own; while the folder cannot be written it waits for a later one."""
        self._notes.append(f"[worker] {text}\n")
        self._write_notes()

    def _write_notes(self) -> None:
        with suppress(OSError), self._path.open("ab") as file:
            file.write("".join(self._notes).encode())
            self._notes = []

    def reply(self, reply: Reply) -> None:
        """Add a reply, which goes with the next part."""
        self._replies.append(pack_reply(reply))

    def tail(self) -> str:
        """The last lines, if the folder can be read."""
        longest = self._redaction.longest
        with suppress(OSError), self._path.open("rb") as file:
            start = max(0, self._path.stat().st_size - _TAIL_BYTES - longest)
            file.seek(start)
            text = self._redaction.hide(file.read())
            if start:
                text = text[longest:]  # which may begin with the end of a secret
            return "\n".join(text.decode(errors="replace").splitlines()[-_TAIL_LINES:])
        return ""

    def ship_due(self) -> None:
        """Ship whole parts, and when it is time to whatever there is."""
        self.show()
        self._ship(everything=self._is_due(self._clock.monotonic()))

    def _is_due(self, now: float) -> bool:
        """True if the part of now is long enough."""
        age, length = now - self._began, now - self._shipped
        longest = part_seconds(age) if self._parts else FIRST_SECONDS
        if length >= longest or length < _SHORT_SECONDS or longest < _LOOK_SECONDS:
            return length >= longest
        if now - self._looked >= _LOOK_SECONDS and self._path.stat().st_size > self._offset:
            self._looked = now
            self._is_read = is_read(self._store, self._job.key, self._job.generation)
        return self._is_read

    def ship_all(self) -> None:
        """Ship what is left; the script has ended."""
        self._write_notes()
        self._ship(everything=True, ended=True)

    def show(self, ended: bool = False) -> None:
        """Show what is new."""
        while self._show:
            text, size = read_piece(self._path, self._shown, _SHOWN_BYTES, self._redaction, ended)
            if not size:
                return
            self._shown += size
            self._show(text)

    @cached_property
    def _first_part(self) -> int:
        """The number that parts begin with: another run may have begun the log of this attempt."""
        job = self._job
        return sum(1 for _ in self._store.read_log(job.key, job.generation, job.attempt))

    def _ship(self, everything: bool, ended: bool = False) -> None:
        job = self._job
        while piece := self._unsent or self._next_piece(everything, ended):
            self._unsent = piece
            part = self._first_part + self._parts
            self._store.append_log(job.key, job.generation, job.attempt, part, piece.text, piece.said)
            self._unsent = None
            del self._replies[: piece.replies]
            self._parts += 1
            self._offset += piece.size
        if everything:
            self._shipped = self._clock.monotonic()

    def _next_piece(self, everything: bool, ended: bool) -> _Piece | None:
        """What is to be stored next; None while that is not enough."""
        text, size = read_piece(self._path, self._offset, _PART_BYTES, self._redaction, ended)
        replies = self._replies[:]
        least = 1 if everything else _PART_BYTES - self._redaction.longest
        if size < least and not (everything and replies):
            return None
        said = b"".join((self._pod.encode(), b"\n", *replies)) if replies else b""
        return _Piece(text, size, said, len(replies))


def read_piece(path: Path, offset: int, most: int, redaction: Redaction, ended: bool) -> tuple[bytes, int]:
    """Read a log file from an offset on, without secrets; return the text and how many bytes it stands for.

    most   bytes at most
    ended  the file is not written any more: what looks like the beginning of a secret is none
    """
    most = max(most, 2 * redaction.longest)
    with path.open("rb") as file:
        file.seek(offset)
        data = file.read(most)
    if ended and len(data) < most:
        return redaction.hide(data), len(data)
    return redaction.hide_part(data)


class CheckpointWatch:
    """Commits the checkpoint sets that appear in a folder; those placed there at the start are known."""

    def __init__(self, folder: Path, store: Store, job: Job, log: StepLog) -> None:
        self._folder, self._store, self._job, self._log = folder, store, job, log
        self._known = set(store.place_checkpoints(job.key, job.generation, folder))
        if self._known:
            log.note(f"continues from checkpoint sets {', '.join(sorted(self._known))}")

    def commit_new(self) -> None:
        """Commit each new set, oldest first; a set has its final name once it is complete."""
        for path in sorted(self._folder.iterdir()):
            if path.name not in self._known and not path.name.startswith(".") and path.is_dir():
                self._commit(path)

    def _commit(self, path: Path) -> None:
        """Commit a set, unless its script has removed it already, which has newer ones then.

        It is stored by second names of its files: the script may remove the set meanwhile.
        """
        held = self._folder / _HELD
        shutil.rmtree(held, ignore_errors=True)
        try:
            _hold(path, held)
            if path.exists():
                self._store.add_checkpoint(self._job.key, self._job.generation, path.name, held)
                self._known.add(path.name)
                self._log.note(f"stored checkpoint set {path.name}")
        except FileNotFoundError:
            if path.exists():
                raise
        finally:
            shutil.rmtree(held, ignore_errors=True)


def _hold(folder: Path, target: Path) -> None:
    """Give the plain files below a folder second names, or copy them where that cannot be."""
    target.mkdir()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            held = target / path.relative_to(folder)
            held.parent.mkdir(parents=True, exist_ok=True)
            clone(path, held, link=True)


class LiveNumbers:
    """Follows the file of live numbers that a script appends to, without secrets."""

    def __init__(self, path: Path, redaction: Redaction, report: Callable[[Mapping[str, Any]], None]) -> None:
        self._path, self._redaction, self._report = path, redaction, report
        self._offset = 0

    def forward(self) -> None:
        """Report the whole lines that are new; what is no JSON object is passed over."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                new = file.read()
        except OSError:  # not written yet, or the disk is away
            return
        whole = new[: new.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in self._redaction.hide(whole).splitlines():
            with suppress(ValueError):
                if isinstance(value := json.loads(line), dict):
                    self._report(value)
