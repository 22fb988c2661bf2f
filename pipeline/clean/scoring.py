"""Scores of every line of a text, or pair of two, by a program of others, block by block.

The program is given a block's lines on its standard input, the sides parted by a tab, and writes a score a
line. Finished blocks are kept in checkpoint sets, from which the next attempt goes on: a set is a folder
`rows-N` with the scores of the first N lines, a file `first-end.zst` for each block.
"""

import logging
import os
import re
import shutil
import signal
import subprocess
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import LineWriter, count_lines, read_lines, write_lines, zip_lines
from pipeline.common.processes import die_with_parent
from pipeline.common.resources import checkpoints, gpus
from pipeline.common.script import EX_TEMPFAIL

SAVE_SECONDS = 300.0  # between two sets, as each holds all scores so far
_SET = re.compile(r"rows-\d{12}")
_PART = re.compile(r"(\d{12})-(\d{12})\.zst")
_PLAIN = str.maketrans("\t\r\x00", "   ")  # what parts columns and lines
_GPU_FAILED = re.compile("CUDA|CUDNN|RESOURCE_EXHAUSTED|ResourceExhausted")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Program:
    """A program that scores lines.

    command       the program and its options
    environments  what to add to the environment of each of the processes that may run at a time
    rows          lines in a block; where blocks end must not change a score
    """

    command: Sequence[str]
    environments: Sequence[Mapping[str, str]]
    rows: int


@dataclass(frozen=True)
class _Part:
    """The scores of the lines from number `first` on, `end` not included."""

    path: Path
    first: int
    end: int


@dataclass(frozen=True)
class _Running:
    """A process that scores a block."""

    process: "subprocess.Popen[bytes]"
    first: int
    rows: int
    answers: Path
    errors: Path


def score(program: Program, texts: Sequence[Path], output: Path, scratch: Path) -> dict[str, object]:
    """Write the score of each line to `output`; returns lines, mean and a histogram for stats.json.

    Being asked to stop (SIGTERM) saves the blocks that are finished and raises TemporaryError. Raises
    InputError when the program fails, or leaves lines out.
    """
    signal.signal(signal.SIGTERM, _stop)
    kept = _Kept(scratch, checkpoints())
    try:
        for part in _score_blocks(program, texts, kept.rows, scratch):
            kept.add(part)
    finally:
        kept.save()
    return _write(kept.parts, output)


def _stop(number: int, frame: FrameType | None) -> None:
    raise TemporaryError(f"Stopped by {signal.Signals(number).name}")


class _Kept:
    """The blocks that are finished, those of earlier attempts first."""

    def __init__(self, scratch: Path, folder: Path | None) -> None:
        self._scratch, self._folder = scratch, folder
        self.parts: list[_Part] = _restore(folder) if folder else []
        self._saved, self._due = self.rows, time.monotonic() + SAVE_SECONDS
        if self.parts:
            logger.info("going on after %s lines that an earlier attempt has scored", f"{self.rows:,}")

    @property
    def rows(self) -> int:
        """Lines that have a score."""
        return self.parts[-1].end if self.parts else 0

    def add(self, part: _Part) -> None:
        """Add the next block, and save a set when it is time."""
        self.parts.append(part)
        if time.monotonic() >= self._due:
            self.save()

    def save(self) -> None:
        """Keep what is finished for another attempt."""
        self._due = time.monotonic() + SAVE_SECONDS
        if self._folder is None or self.rows == self._saved:
            return
        name = f"rows-{self.rows:012d}"
        hidden = self._folder / f".{name}"
        shutil.rmtree(hidden, ignore_errors=True)
        hidden.mkdir(parents=True)
        for part in self.parts:
            _link(part.path, hidden / f"{part.first:012d}-{part.end:012d}.zst")
        hidden.rename(self._folder / name)
        self._saved = self.rows


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(path, target)


def _restore(folder: Path) -> list[_Part]:
    """The parts of the newest set that is whole; damaged ones are removed, to be saved anew."""
    sets = [path for path in folder.iterdir() if _SET.fullmatch(path.name)] if folder.is_dir() else []
    for kept in sorted(sets, reverse=True):
        parts = _parts_of(kept)
        if parts:
            return parts
        logger.warning("the checkpoint set %s is damaged; looking at the one before", kept.name)
        shutil.rmtree(kept)
    return []


def _parts_of(kept: Path) -> list[_Part]:
    """The parts of a set, without a gap from the first line on; none when it is damaged."""
    parts, end = [], 0
    for path in sorted(kept.iterdir()):
        match = _PART.fullmatch(path.name)
        part = _Part(path, int(match[1]), int(match[2])) if match else None
        if part is None or part.first != end or not _is_whole(part):
            return []
        parts.append(part)
        end = part.end
    return parts if kept.name == f"rows-{end:012d}" else []


def _is_whole(part: _Part) -> bool:
    try:
        return count_lines(part.path) == part.end - part.first
    except InputError:
        return False


def _score_blocks(program: Program, texts: Sequence[Path], done: int, scratch: Path) -> Iterator[_Part]:
    """Score the lines after the first `done`; the parts, in order."""
    running: deque[_Running] = deque()
    try:
        for number, (first, rows, block) in enumerate(_blocks(texts, done, program.rows, scratch)):
            if len(running) == len(program.environments):
                yield _finished(running, scratch)
            environment = program.environments[number % len(program.environments)]
            running.append(_start(program, environment, first, rows, block))
        while running:
            yield _finished(running, scratch)
    finally:
        for left in running:
            left.process.kill()
            left.process.wait()


def _blocks(texts: Sequence[Path], done: int, size: int, scratch: Path) -> Iterator[tuple[int, int, Path]]:
    """(number of the first line, lines, file of the program's input) of each block, one at a time."""
    rows = islice(zip_lines(*texts), done, None)
    first = done
    while True:
        path = scratch / f"block.{first}.tsv"
        written = write_lines(path, ("\t".join(map(_plain, row)) for row in islice(rows, size)))
        if not written:
            path.unlink()
            return
        yield first, written, path
        first += written


def _plain(line: str) -> str:
    return line.translate(_PLAIN)


def _start(program: Program, extra: Mapping[str, str], first: int, rows: int, block: Path) -> _Running:
    answers, errors = block.with_suffix(".scores"), block.with_suffix(".log")
    with block.open("rb") as stdin, answers.open("wb") as stdout, errors.open("wb") as stderr:
        process = subprocess.Popen(
            program.command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**_environment(Path(program.command[0]).parent), **extra},
            preexec_fn=die_with_parent,
        )
    block.unlink()  # the process has it open
    return _Running(process, first, rows, answers, errors)


def _environment(programs: Path) -> dict[str, str]:
    """The script's own, without what would lead another Python to the script's libraries, or to a hub."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**own, "PATH": path, "PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1"}


def _finished(running: "deque[_Running]", scratch: Path) -> _Part:
    """Wait for the oldest process, and take its scores."""
    block = running[0]
    status = block.process.wait()
    if status:
        raise _error(block, status)
    part = _Part(scratch / f"{block.first}.zst", block.first, block.first + block.rows)
    written = write_lines(part.path, map(_checked, read_lines(block.answers)))
    if written != block.rows:
        raise InputError(f"{_name(block)} scored {written:,} of {block.rows:,} lines: {_tail(block)}")
    running.popleft()
    block.answers.unlink()
    block.errors.unlink()
    logger.info("scored the lines %s to %s", f"{part.first + 1:,}", f"{part.end:,}")
    return part


def _checked(answer: str) -> str:
    """A score as the program has written it. Raises InputError for what is no number from 0 to 1."""
    try:
        if 0 <= float(answer) <= 1:
            return answer
    except ValueError:
        pass
    raise InputError(f"The program wrote {answer[:80]!r}, which is no score from 0 to 1.")


def _error(block: _Running, status: int) -> Exception:
    text = f"{_name(block)} ended with {status}: {_tail(block)}"
    gpu_failed = gpus() and _GPU_FAILED.search(_tail(block))
    if status < 0 or status == EX_TEMPFAIL or gpu_failed:
        return TemporaryError(text)
    return InputError(text)


def _name(block: _Running) -> str:
    return Path(str(block.process.args[0])).name  # type: ignore[index]


def _tail(block: _Running) -> str:
    return block.errors.read_text(encoding="utf-8", errors="replace").strip()[-2000:]


def _write(parts: Sequence[_Part], output: Path) -> dict[str, object]:
    """Put the parts together; how many scores there are, their mean, and how many fall into each tenth."""
    tenths: Counter[int] = Counter()
    total = 0.0
    with LineWriter(output) as writer:
        for part in parts:
            for line in read_lines(part.path):
                writer.write(line)
                total += float(line)
                tenths[min(9, int(float(line) * 10))] += 1
    lines = writer.lines
    if not lines:
        raise InputError("The text is empty. Check the data set, or take it out of the training config.")
    return {
        "lines": {"in": lines, "kept": lines, "dropped": {}},
        "mean": round(total / lines, 4),
        "scores": {f"{tenth / 10:.1f}": tenths[tenth] for tenth in range(10)},
    }
