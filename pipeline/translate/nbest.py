"""N-best lists as Marian writes them: `number ||| translation ||| F0= score ||| score`."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines

Item = TypeVar("Item")


def read_entries(nbest: Path) -> Iterator[tuple[int, str]]:
    """Sentence number and translation of each line. Raises InputError for a line of another form."""
    for number, line in enumerate(read_lines(nbest), start=1):
        try:
            yield parse_entry(line)
        except ValueError as error:
            raise InputError(f"{nbest}, line {number}: not an n-best entry: {line[:80]!r}") from error


def parse_entry(line: str) -> tuple[int, str]:
    """Sentence number and translation of a line of an n-best list.

    `0 ||| text ||| F0= -0.03 ||| -0.0027`: the text is between the first field and the last two, and may
    hold ||| itself. Raises ValueError for a line of another form.
    """
    number, rest = line.split(" ||| ", maxsplit=1)
    text, _features, _score = rest.rsplit(" ||| ", maxsplit=2)
    return int(number), text


def blocks(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """The items in lists of so many; the last may be shorter."""
    while block := list(islice(items, size)):
        yield block
