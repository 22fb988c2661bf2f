"""Tests of pipeline.train.mixing: which lines stand in which batch."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opustrainer.trainer import CurriculumLoader, Stage

from pipeline.common.errors import InputError
from pipeline.train.mixing import Mix, Stretch, mix


def stage(*mixed: str) -> Stage:
    names = {line.split()[0] for line in mixed[:-1]}
    datasets = dict.fromkeys(names, "x")
    config = {"datasets": datasets, "stages": ["s"], "s": list(mixed), "modifiers": [], "seed": 1}
    return CurriculumLoader().load(config).stages["s"]


def mixed(lines: dict[str, list[int]], batch_size: int, *stages: str, seed: str = "1") -> Mix:
    return mix(stage(*stages), {name: np.array(sizes) for name, sizes in lines.items()}, batch_size, seed)


def lines_of(stretches: list[Stretch]) -> list[tuple[str, int, int]]:
    """Dataset, block and line of a batch's lines."""
    return [(name, block, line) for name, block, first, last in stretches for line in range(first, last)]


def all_lines(given: Mix) -> list[list[tuple[str, int, int]]]:
    assert given.batches is not None
    return [lines_of(given.batch(number)) for number in range(given.batches)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=9), st.integers(1, 40), st.integers(1, 5))
def test_every_line_of_every_epoch_stands_in_one_batch(sizes: list[int], batch: int, times: int) -> None:
    batches = all_lines(mixed({"a": sizes}, batch, "a 1.0", f"until a {times}"))
    assert {len(lines) for lines in batches[:-1]} <= {batch}
    assert 0 < len(batches[-1]) <= batch
    text = [line for lines in batches for line in lines]
    every = {("a", block, line) for block, size in enumerate(sizes) for line in range(size)}
    for epoch in range(times):
        assert set(text[epoch * len(every) : (epoch + 1) * len(every)]) == every
    assert len(text) == times * len(every)


def test_datasets_are_mixed_by_weight_and_start_anew_by_themselves() -> None:
    given = mixed({"a": [10] * 4, "b": [10] * 100}, 50, "a 0.6", "b 0.4", "until a 3")
    batches = all_lines(given)
    assert [Counter(name for name, _, _ in lines) for lines in batches] == [{"a": 30, "b": 20}] * 4
    seen = Counter(line for lines in batches for line in lines)
    assert {count for (name, _, _), count in seen.items() if name == "a"} == {3}
    assert {count for (name, _, _), count in seen.items() if name == "b"} == {1}


def test_the_last_batch_is_shorter_in_proportion() -> None:
    batches = all_lines(mixed({"a": [10] * 4, "b": [10] * 100}, 50, "a 0.6", "b 0.4", "until a 1"))
    assert [Counter(name for name, _, _ in lines) for lines in batches] == [
        {"a": 30, "b": 20},
        {"a": 10, "b": 6},
    ]


def test_a_short_text_repeats_within_a_batch_in_other_orders() -> None:
    (lines,) = all_lines(mixed({"a": [1] * 20}, 100, "a 1.0", "until a 5"))
    epochs = [lines[n : n + 20] for n in range(0, 100, 20)]
    assert all(set(epoch) == set(epochs[0]) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 5


def test_a_batch_follows_from_its_number_alone() -> None:
    sizes = {"a": [7] * 30, "b": [3] * 9}
    stages = ("a 0.7", "b 0.3", "until a inf")
    one = mixed(sizes, 40, *stages)
    in_order = [one.batch(number) for number in range(30)]
    other = mixed(sizes, 40, *stages)
    assert [other.batch(number) for number in reversed(range(30))] == in_order[::-1]
    assert one.batches is None
    assert mixed(sizes, 40, *stages, seed="2").batch(0) != in_order[0]


def test_a_batch_of_sorted_text_is_drawn_from_all_over_it() -> None:
    """A text of 1,000 blocks, sorted by source; a production batch spans 128 blocks.

    Were lines drawn one by one, a tenth of the text would have 10 % of a batch, give or take 3 % at 128.
    """
    given = mixed({"a": [128] * 1000}, 128 * 128, "a 1.0", "until a inf")
    for number in range(20):
        blocks = [block for _, block, _, _ in given.batch(number)]
        assert len(set(blocks)) >= 120  # where an epoch ends, some come twice
        shares = np.histogram(blocks, bins=10, range=(0, 1000))[0] / len(blocks)
        assert shares.min() > 0.01
        assert shares.max() < 0.22


def test_orders_of_blocks_do_not_resemble_each_other() -> None:
    given = mixed({"a": [1] * 2000}, 2000, "a 1.0", "until a inf")
    orders = [np.array([block for _, block, _, _ in given.batch(number)]) for number in range(4)]
    assert np.abs(np.corrcoef(np.vstack([np.arange(2000), *orders])) - np.eye(5)).max() < 0.1


def test_a_dataset_named_twice_has_both_weights() -> None:
    given = mixed({"a": [10] * 10, "b": [10] * 10}, 10, "a 0.3", "b 0.4", "a 0.3", "until a inf")
    assert Counter(name for name, _, _ in lines_of(given.batch(0))) == {"a": 6, "b": 4}


def test_a_stage_without_end_by_mistake_is_refused() -> None:
    with pytest.raises(InputError, match=r"The stage s never ends: a batch of 10 lines has none of a"):
        mixed({"a": [10], "b": [10]}, 10, "a 0.05", "b 0.95", "until a 1")
