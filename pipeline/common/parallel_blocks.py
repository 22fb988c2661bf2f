"""Parallel files in blocks of lines."""

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.common.line_blocks import line_ends, read_blocks
from pipeline.common.lines import zip_lines
from pipeline.common.pool import Texts

BLOCK_ROWS = 5_000
BLOCK_BYTES = 4_000_000  # a block of very long lines ends sooner


def read_parallel(*paths: Path) -> Iterator[Texts]:
    """Yield the text of parallel files in blocks of 5,000 lines, fewer where they are long.

    UTF-8 is not checked. Raises InputError for a damaged file, and when one file ends before another.
    """
    sides = [_Side(path) for path in paths]
    while rows := min(side.fill() for side in sides):
        yield tuple(side.take(rows) for side in sides)
    if any(side.fill() for side in sides):
        deque(zip_lines(*paths), maxlen=0)  # it tells which file is short, and after how many lines


class _Side:
    """A file that is cut into blocks of as many lines as are asked for."""

    def __init__(self, path: Path) -> None:
        self._blocks = read_blocks(path)
        self._text = b""
        self._ends = line_ends(self._text)

    def fill(self) -> int:
        """Read on until there is enough for a block; how many lines can be taken."""
        parts, rows, size = [self._text], len(self._ends), len(self._text)
        while rows < BLOCK_ROWS and size < BLOCK_BYTES:
            block = next(self._blocks, None)
            if block is None:
                break
            parts.append(block)
            rows, size = rows + block.count(b"\n"), size + len(block)
        if len(parts) > 1:
            self._text = b"".join(parts)
            self._ends = line_ends(self._text)
        return min(rows, BLOCK_ROWS)

    def take(self, rows: int) -> bytes:
        """The next lines, which must be there."""
        end = int(self._ends[rows - 1])
        taken, self._text = self._text[:end], self._text[end:]
        self._ends = self._ends[rows:] - end
        return taken


def lines_of(text: bytes) -> list[str]:
    """The lines of a block's side. Raises UnicodeDecodeError when it is not UTF-8."""
    return text.decode("utf-8").split("\n")[:-1]


def text_of(lines: Sequence[str]) -> bytes:
    """Lines, each ended by a line feed; none of them may hold one itself."""
    text = "\n".join(lines)
    if lines and text.count("\n") != len(lines) - 1:
        raise ValueError("A line feed inside a line.")
    return f"{text}\n".encode() if lines else b""
