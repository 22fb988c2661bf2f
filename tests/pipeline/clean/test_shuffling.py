"""Tests of the shuffle, in memory and through the disk."""

from collections import Counter
from pathlib import Path

import pytest

from pipeline.clean.shuffling import shuffled

LINES = [f"line {number} of\ttwo fields" for number in range(200)]
CHARACTERS = sum(map(len, LINES))


def test_all_lines_stay_and_move(tmp_path: Path) -> None:
    result = list(shuffled(LINES, CHARACTERS, 1, tmp_path))
    assert sorted(result) == sorted(LINES)
    assert result != LINES
    assert result != list(shuffled(LINES, CHARACTERS, 2, tmp_path))


@pytest.mark.parametrize("budget", [10, 500, 3_000])
def test_the_disk_gives_what_memory_gives(tmp_path: Path, budget: int) -> None:
    lines = [*LINES, "", " ", "Да\u2028и\rнет", LINES[0]]
    assert list(shuffled(lines, CHARACTERS, 7, tmp_path, budget)) == list(
        shuffled(lines, CHARACTERS, 7, tmp_path)
    )
    assert list(tmp_path.iterdir()) == []


def test_every_place_is_as_likely(tmp_path: Path) -> None:
    seeds, items = 3_000, "abcdefgh"
    places = Counter(
        place
        for seed in range(seeds)
        for place, item in enumerate(shuffled(items, 8, seed, tmp_path))
        if item == "a"
    )
    expected = seeds / len(items)
    # 7 degrees of freedom, p = 0.001
    assert sum((places[place] - expected) ** 2 / expected for place in range(8)) < 24.3
