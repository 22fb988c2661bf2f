"""Tests of the work on blocks in processes."""

import os
import signal
from collections.abc import Iterator, Sequence

import pytest

from pipeline.clean.blocks import BLOCK_CHARACTERS, BLOCK_ROWS, Row, blocks_of, map_blocks
from pipeline.common.errors import TemporaryError


def first_and_size(block: Sequence[Row]) -> tuple[str, int, int]:
    """What the tests' workers do."""
    return block[0][0], len(block), os.getpid()


def die(block: Sequence[Row]) -> None:
    """What the kernel does to a process when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_worth_another_attempt() -> None:
    with pytest.raises(TemporaryError, match="killed"):
        list(map_blocks(die, [("a",)] * (2 * BLOCK_ROWS), threads=2))


def test_a_block_ends_at_its_rows_or_its_characters() -> None:
    assert [len(block) for block in blocks_of([("a",)] * (2 * BLOCK_ROWS + 1))] == [BLOCK_ROWS, BLOCK_ROWS, 1]
    assert [len(block) for block in blocks_of([("a" * BLOCK_CHARACTERS,)] * 3)] == [1, 1, 1]
    assert list(blocks_of([])) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_results_come_in_order(threads: int) -> None:
    rows = [(str(number),) for number in range(3 * BLOCK_ROWS + 7)]
    results = [result[:2] for result in map_blocks(first_and_size, rows, threads)]
    assert results == [("0", BLOCK_ROWS), ("5000", BLOCK_ROWS), ("10000", BLOCK_ROWS), ("15000", 7)]


def test_one_block_needs_no_process() -> None:
    results = list(map_blocks(first_and_size, [("a",)], threads=2))
    assert results == [("a", 1, os.getpid())]


def test_the_stream_is_not_read_far_ahead() -> None:
    read = 0

    def rows() -> Iterator[Row]:
        nonlocal read
        for number in range(20 * BLOCK_ROWS):
            read = number
            yield (str(number),)

    results = map_blocks(first_and_size, rows(), threads=2)
    next(results)
    assert read <= 5 * BLOCK_ROWS
    results.close()
