"""Tests of an importer's counts in its stats.json."""

from collections import Counter

from pipeline.data.imports import Origin, import_stats


def test_lines_that_were_left_out_before_and_after_they_were_read_are_all_counted() -> None:
    origin = Origin(revision="v1", licence="CC0", dropped=Counter(score=5, empty=2, copied=0))
    found = import_stats(10, {"empty": 1, "length": 4, "like": 0}, [], origin)
    assert found["lines"] == {"in": 22, "kept": 10, "dropped": {"score": 5, "empty": 3, "length": 4}}
    assert (found["revision"], found["licence"], found["source"]) == ("v1", "CC0", [])
