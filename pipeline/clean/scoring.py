"""Scores of every line of a text, or pair of two, by a program of others, block by block.

The program is given a block's lines on its standard input, the sides parted by a tab, and writes a score a
line. Finished blocks are kept in checkpoint sets, from which the next attempt goes on.
"""

import logging
import os
import re
import subprocess
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.finished import finished_lines
from pipeline.common.lines import LineWriter, count_lines, read_lines, write_lines, zip_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.processes import dying_with_parent
from pipeline.common.resources import gpus
from pipeline.common.script import EX_TEMPFAIL

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
class _Running:
    """A process that scores a block."""

    process: "subprocess.Popen[bytes]"
    rows: int
    answers: Path
    errors: Path


def score(
    program: Program, texts: Sequence[Path], output: Path, scratch: Path, made_from: MadeFrom
) -> dict[str, object]:
    """Write the score of each line to `output`; returns lines, mean and a histogram for stats.json.

    Being asked to stop (SIGTERM) saves the blocks that are finished and raises TemporaryError. Raises
    InputError when the program fails, or leaves lines out.
    """
    with finished_lines(scratch, made_from) as finished:
        finished.add_all(_score_blocks(program, texts, finished.number, scratch))
        finished.require(count_lines(texts[0]), texts[0])
        return _write(finished.read(), output)


def _score_blocks(
    program: Program, texts: Sequence[Path], done: int, scratch: Path
) -> Generator[Iterator[str], None, None]:
    """Score the lines after the first `done`; the blocks' scores, in order."""
    running: deque[_Running] = deque()
    try:
        for number, (rows, block) in enumerate(_blocks(texts, done, program.rows, scratch)):
            if len(running) == len(program.environments):
                yield _finished(running)
            environment = program.environments[number % len(program.environments)]
            running.append(_start(program, environment, rows, block))
        while running:
            yield _finished(running)
    finally:
        for left in running:
            left.process.kill()
            left.process.wait()


def _blocks(texts: Sequence[Path], done: int, size: int, scratch: Path) -> Iterator[tuple[int, Path]]:
    """(lines, file of the program's input) of each block, one at a time."""
    rows = islice(zip_lines(*texts), done, None)
    first = done
    while True:
        path = scratch / f"block.{first}.tsv"
        written = write_lines(path, ("\t".join(map(_plain, row)) for row in islice(rows, size)))
        if not written:
            path.unlink()
            return
        yield written, path
        first += written


def _plain(line: str) -> str:
    return line.translate(_PLAIN)


def _start(program: Program, extra: Mapping[str, str], rows: int, block: Path) -> _Running:
    answers, errors = block.with_suffix(".scores"), block.with_suffix(".log")
    with block.open("rb") as stdin, answers.open("wb") as stdout, errors.open("wb") as stderr:
        process = subprocess.Popen(
            program.command,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env={**_environment(Path(program.command[0]).parent), **extra},
            preexec_fn=dying_with_parent(),
        )
    block.unlink()  # the process has it open
    return _Running(process, rows, answers, errors)


def _environment(programs: Path) -> dict[str, str]:
    """The script's own, without what would lead another Python to the script's libraries, or to a hub."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**own, "PATH": path, "PYTHONUTF8": "1", "HF_HUB_OFFLINE": "1"}


def _finished(running: "deque[_Running]") -> Iterator[str]:
    """Wait for the oldest process; its scores."""
    block = running[0]
    status = block.process.wait()
    if status:
        raise _error(block, status)
    written = count_lines(block.answers)
    if written != block.rows:
        raise InputError(f"{_name(block)} scored {written:,} of {block.rows:,} lines: {_tail(block)}")
    running.popleft()
    block.errors.unlink()
    return _scores_of(block.answers)


def _scores_of(answers: Path) -> Iterator[str]:
    """The lines of a file, which is removed behind them."""
    yield from map(_checked, read_lines(answers))
    answers.unlink()


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


def _write(scores: Iterable[str], output: Path) -> dict[str, object]:
    """Write the scores; how many there are, their mean, and how many fall into each tenth."""
    tenths: Counter[int] = Counter()
    total = 0.0
    with LineWriter(output) as writer:
        for line in scores:
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
