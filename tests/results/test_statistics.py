"""Statistics as scripts write them."""

from typing import Any

import pytest

from translations_assets.results.statistics import (
    DatasetCounts,
    FetchedFile,
    LineCounts,
    Statistics,
)


def test_lines_that_came_in_were_read() -> None:
    counts = {"in": 10, "kept": 7, "dropped": {"empty": 3}}
    found = Statistics.from_dict({"lines": counts, "datasets": [{"dataset": "opus_A/v1", **counts}]})
    assert found.lines == LineCounts(10, 7, {"empty": 3})
    assert found.datasets == (DatasetCounts("opus_A/v1", LineCounts(10, 7, {"empty": 3})),)


def test_samples_are_lines_or_pairs() -> None:
    found = Statistics.from_dict({"samples": ["a line", ["A dog.", "Hundo."]]})
    assert found.samples == (("a line",), ("A dog.", "Hundo."))


def test_nothing_fetched_is_not_the_same_as_nothing_to_fetch() -> None:
    fetched = [{"url": "https://a/b", "sha256": "0", "bytes": 3}]
    assert Statistics.from_dict({"source": fetched}).source == (FetchedFile("https://a/b", 3),)
    assert Statistics.from_dict({"source": []}).source == ()
    assert Statistics.from_dict({}).source is None


@pytest.mark.parametrize(
    ("stats", "why"),
    [
        ({"lines": {"kept": 7}}, "lines: it has no read"),
        ({"lines": {"in": "10", "kept": 7}}, "lines: read: '10' is no count"),
        ({"samples": "a line"}, "samples: 'a line' is no list"),
        ({"licence": 3}, "licence: 3 is no text"),
    ],
)
def test_what_no_script_writes_is_refused(stats: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Statistics.from_dict(stats)
