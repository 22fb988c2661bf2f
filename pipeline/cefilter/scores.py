"""Files of scores: one number a line."""

import math
from collections.abc import Iterator
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines


def read_scores(path: Path) -> Iterator[float]:
    """Yield the numbers of a file. Raises InputError, naming the line, for anything that is not a number."""
    for number, line in enumerate(read_lines(path), start=1):
        try:
            score = float(line)
        except ValueError:
            score = math.nan
        if math.isnan(score):
            raise InputError(f"{path}, line {number}: not a number: {line[:80]!r}")
        yield score
