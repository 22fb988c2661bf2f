"""The number of parts that a text is split into: so many that a part is some hours of one worker.

A config's `taskcluster.split-chunks` says it, and always wins; this is what `config generate` writes there,
so that the graph follows from the config alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# A teacher (transformer-big, beam 8, 16 bits) that translates 2,500 source words a second on an L4 takes four
# and a half hours for them, at 20 words a line. That rate was not measured: public figures differ by a factor
# of two (benchmarks/scale/rates.py has a source for each rate). Aligning takes half an hour, scoring less.
PART_LINES = 2_000_000
MOST_PARTS = 1000  # as the schema has it


def parts_of(lines: Iterable[int]) -> int:
    """The number of parts for texts of so many lines, by the longest; 1 without any."""
    return min(MOST_PARTS, max(1, -(-max(lines, default=0) // PART_LINES)))


def taskcluster_section(lines: Iterable[int]) -> Iterator[str]:
    """The section of a config, for texts of so many lines."""
    yield "taskcluster:"
    most = f"{PART_LINES:,} lines at most, some hours of a GPU each"
    yield f"  split-chunks: {parts_of(lines)} # parts of {most}"
