"""Rows keep their places on their way through the filters, whatever becomes of their neighbours."""

import numpy as np

from pipeline.clean.filtering.block import Block


def test_edited_rows_keep_the_numbers_by_which_they_are_put_in_order_again() -> None:
    block = Block([["a", "b", "c", "d"], ["A", "B", "C", "D"]], np.array([10, 20, 30, 40]))
    block.drop(np.array([True, False, False, False]))
    block.edit(1, np.array([False, False, True, True]), str.lower)
    edited, kept = block.take_edited(), block.kept()
    assert (edited.numbers.tolist(), [*edited.columns[1].lines]) == ([30, 40], ["c", "d"])
    assert (kept.numbers.tolist(), kept.columns[0].lines) == ([20], ["b"])
    whole = Block([["c", "d", "b"], ["c", "d", "B"]], np.concatenate((edited.numbers, kept.numbers)))
    assert whole.in_order() == [["b", "c", "d"], ["B", "c", "d"]]
