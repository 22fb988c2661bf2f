"""The lines of dev and test sets, which no training text may hold."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.common.lines import read_lines
from pipeline.common.text import normal_form


def held_out_lines(paths: Sequence[Path]) -> frozenset[str]:
    """The normal forms of all lines of the files but the empty ones; held in memory."""
    return frozenset(filter(None, (normal_form(line) for path in paths for line in read_lines(path))))
