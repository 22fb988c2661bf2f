"""Tests of the shuffle, in memory and through the disk."""

from collections import Counter
from pathlib import Path

import pytest

from pipeline.clean.shuffling import Shuffle

LINES = [f"line {number} of\ttwo fields" for number in range(200)]


def shuffled(lines: list[str], seed: int, folder: Path, limit: int = 1 << 20, block: int = 30) -> list[str]:
    """The lines in a random order, handed over `block` at a time."""
    blocks = [
        "".join(line + "\n" for line in lines[n : n + block]).encode() for n in range(0, len(lines), block)
    ]
    order = Shuffle(str(seed), folder / "shuffle", limit)
    result = b"".join(order.blocks(blocks, sum(map(len, blocks))))
    return result.decode().split("\n")[:-1]


def test_all_lines_stay_and_move(tmp_path: Path) -> None:
    result = shuffled(LINES, 1, tmp_path)
    assert sorted(result) == sorted(LINES)
    assert result != LINES
    assert result != shuffled(LINES, 2, tmp_path)


@pytest.mark.parametrize("limit", [10, 500, 3_000])
def test_the_disk_gives_what_memory_gives(tmp_path: Path, limit: int) -> None:
    lines = [*LINES, "", " ", "Да\u2028нет", LINES[0]]
    assert shuffled(lines, 7, tmp_path, limit, block=11) == shuffled(lines, 7, tmp_path)
    assert not list((tmp_path / "shuffle").iterdir())


def test_nothing_is_shuffled_to_nothing(tmp_path: Path) -> None:
    assert shuffled([], 1, tmp_path) == []
    assert list(Shuffle("1", tmp_path / "made-up-size", 10).blocks([], 100)) == []


def test_every_place_is_as_likely(tmp_path: Path) -> None:
    seeds, items = 3_000, "abcdefgh"
    places = Counter(
        place
        for seed in range(seeds)
        for place, item in enumerate(shuffled(list(items), seed, tmp_path))
        if item == "a"
    )
    expected = seeds / len(items)
    # 7 degrees of freedom, p = 0.001
    assert sum((places[place] - expected) ** 2 / expected for place in range(8)) < 24.3
