"""Tests of the work on blocks in processes."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from pipeline.common.errors import InputError, TemporaryError
from pipeline.common.lines import write_lines
from pipeline.common.parallel_blocks import (
    BLOCK_BYTES,
    BLOCK_ROWS,
    lines_of,
    read_parallel,
    text_of,
)
from pipeline.common.pool import Texts, map_blocks


def first_and_size(block: Texts) -> tuple[str, int, int]:
    """Work of the tests' workers."""
    lines = lines_of(block[0])
    return lines[0], len(lines), os.getpid()


def die(block: Texts) -> None:
    """Kill the process, as the kernel does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def numbers(count: int) -> Iterator[Texts]:
    """Blocks whose first lines count them."""
    for number in range(count):
        yield (text_of([str(number), "x"]),)


def test_a_killed_process_is_worth_another_attempt() -> None:
    with pytest.raises(TemporaryError, match="killed"):
        list(map_blocks(die, numbers(2), threads=2))


def test_so_is_one_that_is_killed_while_the_next_block_is_read() -> None:
    def blocks() -> Iterator[Texts]:
        yield from numbers(2)
        while active_children():  # until the pool has seen it
            time.sleep(0.01)
        yield from numbers(1)

    with pytest.raises(TemporaryError, match="killed"):
        list(map_blocks(die, blocks(), threads=2))


def test_sigterm_while_a_pool_starts_waits_until_it_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its handler raises; in the middle of a start that left a pool which could not be ended."""

    def stop(*_: object) -> None:
        raise TemporaryError("Stopped")

    def submit_when_stopped(pool: ProcessPoolExecutor, *args: Any) -> "Future[Any]":
        signal.raise_signal(signal.SIGTERM)
        submitted.append(submit(pool, *args))
        return submitted[-1]

    submitted: list[Future[Any]] = []
    submit = ProcessPoolExecutor.submit
    monkeypatch.setattr(ProcessPoolExecutor, "submit", submit_when_stopped)
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(TemporaryError, match="Stopped"):
            list(map_blocks(first_and_size, numbers(2), threads=2))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert submitted[0].result(timeout=30)[0] == "0"
    assert not active_children()


def test_sides_are_cut_at_the_same_lines(tmp_path: Path) -> None:
    source = [f"line {number}" for number in range(2 * BLOCK_ROWS + 1)]
    target = [line + "x" * (number % 300) for number, line in enumerate(source)]
    write_lines(tmp_path / "src.zst", source)
    write_lines(tmp_path / "trg.gz", target)
    blocks = list(read_parallel(tmp_path / "src.zst", tmp_path / "trg.gz"))
    sizes = [[len(lines_of(side)) for side in block] for block in blocks]
    assert all(ours == theirs <= BLOCK_ROWS for ours, theirs in sizes)
    assert [line for block in blocks for line in lines_of(block[0])] == source
    assert [line for block in blocks for line in lines_of(block[1])] == target


def test_a_block_of_long_lines_ends_sooner(tmp_path: Path) -> None:
    write_lines(tmp_path / "long", ["x" * BLOCK_BYTES] * 3)
    write_lines(tmp_path / "short", ["y"] * 3)
    blocks = list(read_parallel(tmp_path / "long", tmp_path / "short"))
    assert [len(lines_of(short)) for _, short in blocks] == [1, 1, 1]


def test_an_empty_file_has_no_blocks(tmp_path: Path) -> None:
    write_lines(tmp_path / "empty.zst", [])
    assert list(read_parallel(tmp_path / "empty.zst")) == []


@pytest.mark.parametrize("order", [("long", "short"), ("short", "long")])
def test_a_file_that_ends_first_is_told_of(order: tuple[str, str], tmp_path: Path) -> None:
    write_lines(tmp_path / "long", ["x"] * (BLOCK_ROWS + 2))
    write_lines(tmp_path / "short", ["y"] * (BLOCK_ROWS + 1))
    with pytest.raises(InputError, match=r"short ends after 5,001 lines, .*long goes on"):
        list(read_parallel(*(tmp_path / name for name in order)))


def test_texts_and_lines() -> None:
    assert text_of(["a", "", "я\u2028"]) == "a\n\nя\u2028\n".encode()
    assert lines_of(text_of(["a", "", "я\u2028"])) == ["a", "", "я\u2028"]
    assert text_of([]) == b""
    assert lines_of(b"") == []
    with pytest.raises(ValueError, match="line feed"):
        text_of(["a\nb"])


@pytest.mark.parametrize("threads", [1, 2])
def test_results_come_in_order(threads: int) -> None:
    results = [result[:2] for result in map_blocks(first_and_size, numbers(7), threads)]
    assert results == [(str(number), 2) for number in range(7)]


def test_one_block_needs_no_process() -> None:
    assert list(map_blocks(first_and_size, numbers(1), threads=2)) == [("0", 2, os.getpid())]


def test_work_may_hold_what_cannot_be_pickled() -> None:
    results = list(map_blocks(lambda block: first_and_size(block)[0], numbers(3), threads=2))
    assert results == ["0", "1", "2"]


def test_the_stream_is_not_read_far_ahead() -> None:
    read = 0

    def blocks() -> Iterator[Texts]:
        nonlocal read
        for block in numbers(20):
            read += 1
            yield block

    results = map_blocks(first_and_size, blocks(), threads=2)
    next(results)
    assert read <= 5
    results.close()
