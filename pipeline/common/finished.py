"""Lines that a script has finished, kept in checkpoint sets, so that another attempt goes on after them.

A script makes its result block by block, in order; an interruption does not move where blocks end. A set is
a folder `rows-N`: the first N lines, in files `first-end.zst`, and what they are made from. All of its files
but the last stand in the set before as well. They are the same files, so that neither the disk nor a store
takes them twice. Where the disk has no hard links, the newest two sets are kept.
"""

import logging
import os
import re
import shutil
import signal
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path
from types import FrameType

from pipeline.common.errors import InputError, Stopped
from pipeline.common.lines import count_lines, open_bytes, write_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.processes import put_off
from pipeline.common.resources import checkpoints
from pipeline.common.script import EX_TEMPFAIL

SAVE_SECONDS = 300.0  # between two sets: what a machine that is lost has done in vain
BLOCK_ROWS = 10_000
_SET = re.compile(r"rows-\d{12}")
_PART = re.compile(r"(\d{12})-(\d{12})\.zst")

log = logging.getLogger(__name__)


@contextmanager
def finished_lines(scratch: Path, made_from: MadeFrom) -> Iterator["FinishedLines"]:
    """The lines that earlier attempts have finished, to go on after; `scratch` is a folder for files.

    Raises InputError when they are made from something else. An error keeps what is finished. So does
    SIGTERM, at once; it kills the processes of pools, and raises Stopped. Only a script's main thread
    may call this.
    """
    lines = FinishedLines(scratch, checkpoints(), made_from)
    before = signal.signal(signal.SIGTERM, lines.stop)
    try:
        yield lines
    except BaseException:
        lines.save()
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def rows_of_a_block(together: int) -> int:
    """How many rows of a text make a block where so many are read and sorted into batches together.

    A whole number of these, so that the batches are those of a text that is worked on without a break.
    """
    return together * max(1, BLOCK_ROWS // together)


@dataclass(frozen=True)
class _Part:
    """The lines from number `first` on, `end` not included; compressed, `size` bytes of the file."""

    path: Path
    first: int
    end: int
    size: int

    @property
    def name(self) -> str:
        return f"{self.first:012d}-{self.end:012d}.zst"


class FinishedLines:
    """The lines that are finished, those of earlier attempts first."""

    def __init__(self, scratch: Path, folder: Path | None, made_from: MadeFrom) -> None:
        self._scratch, self._folder, self._made_from = scratch, folder, made_from
        self._parts = _restore(folder, scratch, made_from) if folder else []
        self._saved = self.number
        self._due = time.monotonic() + SAVE_SECONDS
        self._growing = self._next_part()
        self._told = ""
        self._owner = os.getpid()
        if self._saved:
            log.info("Going on after %s lines that an earlier attempt has finished", f"{self._saved:,}")

    @property
    def number(self) -> int:
        """How many lines are finished."""
        return self._parts[-1].end if self._parts else 0

    def add(self, block: Iterable[str]) -> None:
        """Add the next lines: all of them, or none when an error ends them; save a set when it is time."""
        lines = self._scratch / "block.zst"
        number = write_lines(lines, block)
        with put_off(signal.SIGTERM):
            self._append(lines, number)
            if time.monotonic() >= self._due:
                log.info("%s lines are finished", f"{self.number:,}")
                self.save()
        if self._told:  # and what stop() raised was swallowed
            self._stop()

    def add_all(self, blocks: Generator[Iterable[str], None, None]) -> None:
        """Add the blocks that are left; whatever ends this ends what makes them, too."""
        with closing(blocks):
            for block in blocks:
                self.add(block)

    def save(self) -> None:
        """Keep what is finished for another attempt."""
        self._due = time.monotonic() + SAVE_SECONDS
        if self._folder is None or self.number == self._saved:
            return
        hidden, final = (self._folder / f"{mark}rows-{self.number:012d}" for mark in (".", ""))
        shutil.rmtree(hidden, ignore_errors=True)
        hidden.mkdir(parents=True)
        os.truncate(self._parts[-1].path, self._parts[-1].size)  # an error may have left a torn end
        sets = _sets(self._folder)
        copied = 0
        for part in self._parts:
            copied += not _link(hidden / part.name, part.path, *(kept / part.name for kept in sets[-1:]))
        self._made_from.write(hidden)
        hidden.rename(final)
        if copied > 1:  # more than the part that is new: the set takes its whole size
            for kept in sets[:-1]:
                shutil.rmtree(kept, ignore_errors=True)
        self._saved = self.number
        self._growing = self._next_part()

    def stop(self, number: int, frame: FrameType | None) -> None:
        """What SIGTERM does."""
        if os.getpid() != self._owner:  # a fork, which must not write what its parent does
            os._exit(EX_TEMPFAIL)
        self._told = f"Stopped by {signal.Signals(number).name}"
        self._stop()

    def read(self) -> Iterator[str]:
        """All lines, exactly as they were added: whatever begins a file is part of a line."""
        for part in self._parts:
            with open_bytes(part.path) as stream:
                for line in stream:
                    yield line.decode().removesuffix("\n")

    def write(self, output: Path) -> int:
        """Write all lines to a file, whose bytes depend on them alone; returns how many they are."""
        return write_lines(output, self.read())

    def require(self, number: int, text: Path) -> None:
        """Raise InputError unless so many lines are finished: those that belong to a text."""
        if self.number != number:
            raise InputError(
                f"{self.number:,} lines were made of {text}, which wants {number:,}; none is kept. Remove "
                "the checkpoints, if there are any, and run this again."
            )

    def _stop(self) -> None:
        self.save()
        for process in active_children():  # a pool would wait until they are done
            process.kill()
        raise Stopped(self._told)

    def _next_part(self) -> _Part:
        return _Part(self._scratch / f"finished.{self.number}.zst", self.number, self.number, 0)

    def _append(self, lines: Path, number: int) -> None:
        """Add compressed lines to the part that grows."""
        if not number:
            return
        before = self._growing
        with before.path.open("ab") as target, lines.open("rb") as source:
            shutil.copyfileobj(source, target)
            size = target.tell()
        self._growing = _Part(before.path, before.first, before.end + number, size)
        self._parts[len(self._parts) - (before.size > 0) :] = [self._growing]


def _restore(folder: Path, scratch: Path, made_from: MadeFrom) -> list[_Part]:
    """The whole parts of the set that has most of them; sets that are damaged are removed, to be saved anew.

    Parts count up to the first that is not whole. Raises InputError for sets of another input.
    """
    best: Sequence[_Part] = []
    for kept in reversed(_sets(folder)):
        parts = [*_whole_parts(kept, made_from)]
        rows = parts[-1].end if parts else 0
        if rows > (best[-1].end if best else 0):
            best = [_linked(part, scratch) for part in parts]
        if kept.name == f"rows-{rows:012d}":
            break
        log.warning("The checkpoint set %s is damaged after line %s", kept.name, f"{rows:,}")
        shutil.rmtree(kept)
    return [*best]


def _sets(folder: Path) -> list[Path]:
    """The sets in a folder, which need not be there; that with most lines last."""
    sets = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in sets if _SET.fullmatch(path.name))


def _whole_parts(kept: Path, made_from: MadeFrom) -> Iterator[_Part]:
    """The parts of a set, from the first line on to the first gap or damage."""
    try:
        made_from.check(kept)
    except ValueError:
        return
    end = 0
    for path in sorted(kept.glob("*.zst")):
        match = _PART.fullmatch(path.name)
        if match is None or not _is_whole(path, int(match[2]) - end):
            return
        first, end = end, int(match[2])
        yield _Part(path, first, end, path.stat().st_size)


def _is_whole(path: Path, lines: int) -> bool:
    """Whether a file has so many lines; it has checksums of its contents."""
    try:
        return count_lines(path) == lines
    except InputError:
        return False


def _linked(part: _Part, scratch: Path) -> _Part:
    """A part under a name that stays when its set is removed."""
    path = scratch / f"finished.{part.first}.{part.end}.zst"
    path.unlink(missing_ok=True)  # of a shorter set
    _link(path, part.path)
    return _Part(path, part.first, part.end, part.size)


def _link(target: Path, *equal: Path) -> bool:
    """Give one of several equal files a second name, else copy the first; True unless that was necessary."""
    for path in equal:
        with suppress(OSError):  # another file system, or one without hard links; or it is not there
            os.link(path, target)
            return True
    shutil.copyfile(equal[0], target)
    return False
