"""Tests of grouping by key, in memory and through the disk."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.common.external import RECORD, KeyedRecords, best_of_each_key, text_key

RECORDS = st.lists(st.tuples(st.integers(0, 20), st.sampled_from([0.0, 0.25, 1.0])), max_size=60)
TWO_RECORDS = 2 * RECORD.itemsize


def winners(records: list[tuple[int, float]], budget: int) -> dict[int, int]:
    """For each line the line that wins its key."""
    found: dict[int, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        table = KeyedRecords(Path(folder), budget)
        for line, (key, score) in enumerate(records):
            table.add(text_key(str(key)), score, line)
        for group in table.groups():
            found.update(zip(*map(np.ndarray.tolist, best_of_each_key(group)), strict=True))
        assert not list(Path(folder).iterdir())
    return found


@given(RECORDS)
@settings(max_examples=30, deadline=None)
def test_the_best_score_wins_and_then_the_first_line(records: list[tuple[int, float]]) -> None:
    def expected(key: int) -> int:
        rivals = [(-score, line) for line, (other, score) in enumerate(records) if other == key]
        return min(rivals)[1]

    assert winners(records, 1 << 20) == {line: expected(key) for line, (key, _) in enumerate(records)}


@given(RECORDS)
@settings(max_examples=30, deadline=None)
def test_the_disk_gives_what_memory_gives(records: list[tuple[int, float]]) -> None:
    assert winners(records, TWO_RECORDS) == winners(records, 1 << 20)


def test_keys_have_128_bits_and_differ_between_texts() -> None:
    keys = {text_key(str(number)) for number in range(1_000)}
    assert {len(key) for key in keys} == {16}
    assert len(keys) == 1_000
