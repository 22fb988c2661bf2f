"""Histograms of line lengths: counts by hand, and images that are the same bytes each time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.data.analyze import BINS, Histogram, main
from tests.pipeline.data.conftest import Written

LINES = ["one", "one two", "", "ĉu vi", "x" * 20_000]


def _analyze(text: Path, output: Path) -> Written:
    main(["--text", str(text), "--lang", "en", "--dataset", "demo_train", "--output", str(output)])
    return Written(output)


def test_counts_and_images(tmp_path: Path) -> None:
    write_lines(tmp_path / "text.zst", LINES)
    written = _analyze(tmp_path / "text.zst", tmp_path / "work" / "out")
    assert written.files == ["distribution-codepoints.png", "distribution-words.png", "stats.json"]
    for name in written.files[:2]:
        assert (written.output / name).read_bytes().startswith(b"\x89PNG\r\n")
    stats = written.stats
    assert stats["lines"] == {"in": 5, "kept": 5, "dropped": {}}
    assert (stats["words"]["total"], stats["words"]["longest"], stats["words"]["a line"]) == (6, 2, 1.2)
    assert stats["code points"]["longest"] == 20_000
    assert stats["words"]["bin counts"][0] == 2  # the lines of one word
    assert sum(stats["words"]["bin counts"]) == 4  # the empty line has no place
    assert stats["code points"]["bin counts"][-1] == 1  # 20,000 is beyond the last edge


def test_the_images_are_the_same_bytes_in_any_folder(tmp_path: Path) -> None:
    write_lines(tmp_path / "a.txt", LINES)
    write_lines(tmp_path / "b.gz", LINES)
    first = _analyze(tmp_path / "a.txt", tmp_path / "one" / "out")
    second = _analyze(tmp_path / "b.gz", tmp_path / "two" / "other")
    for name in first.files:
        content = (first.output / name).read_bytes()
        assert content == (second.output / name).read_bytes()
        assert b"atplotlib" not in content
        assert b"tIME" not in content


@given(st.lists(st.integers(1, 20_000), min_size=1))
def test_every_line_is_in_the_bin_of_its_length(lengths: list[int]) -> None:
    histogram = Histogram("words", 5_000)
    for length in lengths:
        histogram.add(length)
    assert sum(histogram.counts) == len(lengths)
    assert len(histogram.edges) == BINS + 1
    last = sum(length >= histogram.edges[-2] for length in lengths)
    assert histogram.counts[-1] == last
    for low, high, count in zip(histogram.edges, histogram.edges[1:-1], histogram.counts, strict=False):
        assert count == sum(low <= length < high for length in lengths)


def test_an_empty_text(tmp_path: Path) -> None:
    write_lines(tmp_path / "text.zst", [])
    with pytest.raises(InputError, match=r"text\.zst is empty"):
        _analyze(tmp_path / "text.zst", tmp_path / "work" / "out")
