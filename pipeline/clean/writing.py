"""The second reading of the merges: one side of the rows to keep, written to its file."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pipeline.clean.shuffling import Shuffle
from pipeline.common.line_blocks import BlockWriter, kept_lines, line_ends, read_blocks

Numbers = npt.NDArray[np.int64]


def write_side(
    files: Sequence[Path], verdicts: Path, size: int, output: Path, sample: Numbers, shuffle: Shuffle
) -> list[str]:
    """Write the lines of the files whose verdict is 0 to `output`, shuffled; return the sample's.

    `verdicts` has a byte for each line of the files; kept lines are numbered from 0, in the files' order,
    for `sample`, whose lines are returned in that order. Tabs and carriage returns become spaces: tabs part
    columns later. `size` is that of the files' text in bytes.
    """
    sampled: list[str] = []
    blocks = _kept_blocks(files, verdicts, sample, sampled)
    writer = BlockWriter(output)
    with writer:
        for block in shuffle.blocks(blocks, size):
            writer.write_block(block)
    return sampled


def _kept_blocks(
    files: Sequence[Path], verdicts: Path, sample: Numbers, sampled: list[str]
) -> Iterator[bytes]:
    """Blocks of the lines to keep; the sampled ones are appended to `sampled` on the way."""
    first = 0  # number of the next line that is kept
    with verdicts.open("rb") as file:
        for block in (block for path in files for block in read_blocks(path)):
            block = block.replace(b"\t", b" ").replace(b"\r", b" ")
            ends = line_ends(block)
            starts = np.concatenate(([0], ends[:-1]))
            kept = np.frombuffer(file.read(len(ends)), dtype=np.uint8) == 0
            lines = np.flatnonzero(kept)
            begin, end = np.searchsorted(sample, (first, first + len(lines)))
            for line in lines[sample[begin:end] - first].tolist():
                sampled.append(block[starts[line] : ends[line] - 1].decode("utf-8"))
            first += len(lines)
            yield kept_lines(block, ends, kept)
