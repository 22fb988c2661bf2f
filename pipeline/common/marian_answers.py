"""The lines that Marian writes for the rows of texts: in order, and none lost, whatever crashes meanwhile."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TypeAlias

from pipeline.common.errors import InputError
from pipeline.common.finished import rows_of_a_block
from pipeline.common.lines import read_lines, write_lines, zip_lines
from pipeline.common.marian_options import Options
from pipeline.common.marian_process import ATTEMPTS, has_ended_well, run_marian, running
from pipeline.common.pool import map_blocks

# A piece covers at most 16 characters, and normalisation makes one character of at most three or four
# (conjoining jamo), so a line longer than this is cropped by --max-length in any case.
CHARACTERS_PER_PIECE = 64
UNIT_ROWS = 64  # that a process on a CPU reads, and sorts into batches, together

Row: TypeAlias = tuple[str, ...]


def answers(
    command: str,
    texts: Mapping[str, Sequence[Path]],
    options: Options,
    scratch: Path,
    done: int,
    lines_a_row: int = 1,
) -> Generator[list[str], None, None]:
    """Blocks of the lines that Marian writes for the rows of texts after the first `done`.

    `texts` are named by the option that gives them to Marian. After a crash it goes on with the next block.
    Raises InputError when lines are missing; else as `run_marian`.
    """
    ((given, files),) = texts.items()
    inputs = [scratch / f"text.{number}" for number in range(len(files))]
    options = {**options, given: [*map(str, inputs)], "output": "/dev/stdout"}
    rows = rows_of_a_block(_read_together(options)[1])
    for attempt in range(1, ATTEMPTS + 1):
        number = _write_rest(files, inputs, options, done)
        if not number:
            return
        with running(command, options, scratch) as process:
            assert process.stdout
            lines = _numbered_from(
                done, _lines_of(process.stdout, first=not done), bool(options.get("n-best"))
            )
            while len(block := [*islice(lines, rows * lines_a_row)]) == rows * lines_a_row:
                yield block
                done, number = done + rows, number - rows
        if has_ended_well(command, process.returncode, scratch, attempt):
            break
    _require(done * lines_a_row + len(block), (done + number) * lines_a_row)
    if block:
        yield block


def shared_answers(
    command: str,
    texts: Mapping[str, Sequence[Path]],
    options: Options,
    scratch: Path,
    done: int,
    lines_a_row: int = 1,
) -> Generator[list[str], None, None]:
    """As `answers`, from as many processes of one thread as `cpu-threads` says.

    A thread of Marian 1.12.42 takes that copy of the model which its first batch's number names
    (translator.h, rescorer.h). Where batches are short and the machine is busy, two threads take the same
    one. Then Marian crashes, or, worse, writes wrong numbers.
    """
    ((given, files),) = texts.items()
    mini, together = _read_together(options)
    # A translation depends a little on which rows share a batch, but not on how many processes there are.
    unit = mini * max(1, min(UNIT_ROWS, together) // mini)
    alone = {**options, "cpu-threads": 1, "maxi-batch": unit // mini}
    work = partial(_answer_share, command, given, alone, lines_a_row)
    rows = (tuple(_cropped(line, options) for line in row) for row in islice(zip_lines(*files), done, None))
    while block := [*islice(rows, rows_of_a_block(together // unit * unit))]:
        numbers = [*range(len(block))]
        if options.get("maxi-batch-sort") != "none":
            numbers.sort(key=lambda number: len(block[number][0]))
        shares = _dealt(numbers, unit, int(str(options["cpu-threads"])))
        parts = [
            (scratch / f"share.{place}", [block[number] for number in share])
            for place, share in enumerate(shares)
        ]
        answered = chain.from_iterable(map_blocks(work, parts, len(parts)))
        by_number = sorted(zip(chain.from_iterable(shares), answered, strict=True))
        lines = chain.from_iterable(lines for _, lines in by_number)
        yield [*(_with_numbers(lines, done, lines_a_row) if options.get("n-best") else lines)]
        done += len(block)


def _dealt(numbers: Sequence[int], unit: int, processes: int) -> list[list[int]]:
    """Numbers of rows, dealt in units in turn; the last unit may be shorter, and ends its share."""
    units = [numbers[first : first + unit] for first in range(0, len(numbers), unit)]
    return [[*chain.from_iterable(units[first::processes])] for first in range(min(processes, len(units)))]


def _answer_share(
    command: str, given: str, options: Options, lines_a_row: int, part: tuple[Path, Sequence[Row]]
) -> list[list[str]]:
    """The lines that a process of its own writes for each of the rows; `part` has its folder, too."""
    scratch, rows = part
    scratch.mkdir(exist_ok=True)
    inputs = [scratch / f"text.{side}" for side in range(len(rows[0]))]
    for path, side in zip(inputs, zip(*rows, strict=True), strict=True):
        write_lines(path, side)
    output = scratch / "answers"
    run_marian(command, {**options, given: [*map(str, inputs)], "output": str(output)}, scratch)
    lines = [*read_lines(output)]
    _require(len(lines), len(rows) * lines_a_row)
    return [lines[first : first + lines_a_row] for first in range(0, len(lines), lines_a_row)]


def _with_numbers(lines: Iterable[str], done: int, lines_a_row: int) -> Iterator[str]:
    """Entries of n-best lists, which Marian numbers in each process, with the numbers of their rows."""
    for place, line in enumerate(lines):
        yield f"{done + place // lines_a_row} {line.split(' ', 1)[1]}"


def _read_together(options: Options) -> tuple[int, int]:
    """How many rows a batch has that is not counted in words, and how many are read and sorted together."""
    mini, maxi = (int(str(options.get(name, 1))) for name in ("mini-batch", "maxi-batch"))
    return mini, mini * maxi


def _require(lines: int, wanted: int) -> None:
    """Raise InputError unless Marian has written as many lines as it had to."""
    if lines != wanted:
        raise InputError(f"Marian wrote {lines:,} lines instead of {wanted:,}; the result is not kept")


def _cropped(line: str, options: Options) -> str:
    """A line that does not take minutes to encode; Marian crops it by pieces."""
    limit = CHARACTERS_PER_PIECE * int(str(options["max-length"]))
    return line if len(line) <= limit else " ".join(line.split())[:limit]


def _write_rest(files: Sequence[Path], inputs: Sequence[Path], options: Options, done: int) -> int:
    """Write Marian's input, without the first `done` rows; returns how many there are."""
    for text, path in zip(files, inputs, strict=True):
        lines = islice(read_lines(text), done, None)
        number = write_lines(path, (_cropped(line, options) for line in lines))
    return number


def _lines_of(stream: "IO[bytes]", first: bool) -> Iterator[str]:
    """Lines as `read_lines` reads them, but the end of one that is cut short."""
    for raw in stream:
        if raw.endswith(b"\n"):
            line = raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
            yield line.removeprefix("\ufeff") if first else line
        first = False


def _numbered_from(done: int, lines: Iterator[str], nbest: bool) -> Iterator[str]:
    """Entries of n-best lists, whose sentences Marian numbers from 0, numbered from `done`."""
    if not nbest or not done:
        return lines
    entries = (line.split(" ", 1) for line in lines)
    return (f"{int(number) + done} {rest}" for number, rest in entries)
