"""Tests of finding the best record of each key, in memory and through the disk."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.common.external import RECORD, BestRecords, Records

# Keys that share no bits, leading bits, the whole first half, or everything.
HALVES = st.sampled_from([0, 1, 2, 3, 1 << 63, (1 << 63) + 1, (1 << 63) + 2, (1 << 64) - 1])
ROWS = st.lists(st.tuples(HALVES, HALVES, st.sampled_from([0.0, 0.25, 1.0])), max_size=60)


def records_of(rows: list[tuple[int, int, float]]) -> Records:
    """Records with ascending lines."""
    return np.array([(*row, line) for line, row in enumerate(rows)], dtype=RECORD)


def losers_of(records: Records, limit: int, stretch: int, threads: int = 1) -> dict[int, set[int]]:
    """For each line that lost the lines it is said to have lost to."""
    found: dict[int, set[int]] = {}
    with tempfile.TemporaryDirectory() as folder:
        best = BestRecords(Path(folder), len(records), limit, threads)
        for start in range(0, len(records), stretch):
            best.add(best.dealt(records[start : start + stretch]))
        for losers, winners in best.losers():
            for loser, winner in zip(losers.tolist(), winners.tolist(), strict=True):
                found.setdefault(loser, set()).add(winner)
        assert not list(Path(folder).iterdir())
    return found


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("limit", [4, 1_000])
@given(ROWS, st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_all_but_the_best_and_first_lose(
    limit: int, threads: int, rows: list[tuple[int, int, float]], stretch: int
) -> None:
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for line, (high, low, score) in enumerate(rows):
        best[high, low] = min(best.get((high, low), (np.inf, 0)), (-score, line))
    winners = {line for _, line in best.values()}
    found = losers_of(records_of(rows), limit, stretch, threads)
    assert set(found) == set(range(len(rows))) - winners
    for loser, better in found.items():
        for winner in better:
            assert rows[winner][:2] == rows[loser][:2]
            assert (-rows[winner][2], winner) < (-rows[loser][2], loser)


def test_a_key_may_have_more_records_than_memory_holds() -> None:
    rows = [(7, 7, 0.0)] * 500 + [(7, 7, 1.0)] + [(9, 7, 0.0)] * 500
    assert set(losers_of(records_of(rows), 10, 50)) == set(range(1_001)) - {500, 501}


def test_many_records_in_little_memory_make_many_partitions(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    records = np.zeros(5_000, dtype=RECORD)
    records["high"] = random.integers(0, 1 << 64, len(records), dtype=np.uint64)
    records["line"] = np.arange(len(records))
    best = BestRecords(tmp_path, len(records), 100)
    best.add(best.dealt(records))
    best.add(best.dealt(records[:10]))
    assert 64 <= len(list(tmp_path.iterdir())) <= 256
    losers = np.concatenate([losers for losers, _ in best.losers()])
    assert sorted(losers.tolist()) == list(range(10))
