"""Tests of reading and writing text in blocks: the same lines as one by one."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.common import line_blocks
from pipeline.common.errors import InputError
from pipeline.common.line_blocks import BlockWriter, line_ends, read_blocks
from pipeline.common.lines import read_lines, write_lines

PIECES = st.sampled_from(
    ["a", "Да", "\n", "\r\n", "\r", "\u2028", "\ufeff", " ", "longer than a block of eight", "\0"]
)


@given(st.lists(PIECES, max_size=30), st.integers(1, 40), st.sampled_from([".txt", ".zst", ".gz"]))
@settings(max_examples=60, deadline=None)
def test_blocks_hold_the_lines_that_read_lines_yields(pieces: list[str], size: int, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_blocks, "BLOCK", size)
        path = Path(folder) / f"text{suffix}"
        with BlockWriter(path) as writer:
            writer._stream.write("".join(pieces).encode())
        blocks = list(read_blocks(path))
        lines = list(read_lines(path))
    assert all(block.endswith(b"\n") for block in blocks)
    assert b"".join(blocks).decode().split("\n")[:-1] == lines
    assert sum(len(line_ends(block)) for block in blocks) == len(lines)


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.zst"
    write_lines(path, (f"line {n}" for n in range(1_000)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"text\.zst is damaged after line"):
        list(read_blocks(path))


def test_where_blocks_end_does_not_change_the_bytes(tmp_path: Path) -> None:
    lines = [f"Номер {n} of many" for n in range(200_000)]
    text = "".join(line + "\n" for line in lines).encode()
    write_lines(tmp_path / "lines.zst", lines)
    for name, size in (("small.zst", 1_000), ("large.zst", 1 << 22)):
        writer = BlockWriter(tmp_path / name)
        with writer:
            for start in range(0, len(text), size):
                writer.write_block(text[start : start + size])
        assert writer.lines == len(lines)
        assert (tmp_path / name).read_bytes() == (tmp_path / "lines.zst").read_bytes()
