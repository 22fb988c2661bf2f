"""Histograms of line lengths: counts by hand, and images that are the same bytes each time."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from pipeline.data.analyze import BINS, MOST_WORDS, Histogram, _draw, _step, _x, main
from tests.pipeline.data.conftest import Written

LINES = ["one", "one two", "", "ĉu vi", "x" * 20_000]
STEEL_BLUE = (70, 130, 180)


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
        assert b"tEXt" not in content
        assert b"tIME" not in content


def test_a_bar_is_as_high_as_its_count(tmp_path: Path) -> None:
    write_lines(tmp_path / "text.txt", ["one", "two", "a b c d e f g h i j k"])
    written = _analyze(tmp_path / "text.txt", tmp_path / "out")
    with Image.open(written.output / "distribution-words.png") as image:
        columns = {words: _x(words * 1.05, MOST_WORDS) for words in (1, 4, 11)}
        coloured = {
            words: sum(image.getpixel((x, y)) == STEEL_BLUE for y in range(image.height))
            for words, x in columns.items()
        }
    assert coloured[4] == 0
    assert coloured[1] == pytest.approx(2 * coloured[11], abs=2)
    assert coloured[1] > 300


def test_a_title_may_have_letters_that_the_font_lacks(tmp_path: Path) -> None:
    images = []
    for name in ("žodis", "жodis"):
        _draw(Histogram("words", MOST_WORDS), name, tmp_path / "drawn.png")
        images.append((tmp_path / "drawn.png").read_bytes())
    assert images[0] != images[1]  # both would be boxes


@given(st.integers(1, 10**10))
def test_the_axis_of_counts_has_few_round_numbers(most: int) -> None:
    step = _step(most)
    assert most / step <= 8
    assert str(step).rstrip("0") in {"1", "2", "5"}
    assert step == 1 or most / step > 3


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
