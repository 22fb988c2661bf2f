"""A text of which no more than a number of lines is written."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.common.lines import read_lines, write_lines
from pipeline.common.selection import Selection
from pipeline.data import limited
from pipeline.data.limited import Limited, write_limited

TEXT = [f"Line {number} of a text." for number in range(20_000)]


def written(lines: list[str], size: int, folder: Path, seed: str = "1") -> tuple[Limited, list[str]]:
    """Counts of the lines, and the written ones; nothing else is left in the folder."""
    scratch, file = folder / "scratch", folder / "text.zst"
    scratch.mkdir()
    result = write_limited(iter(lines), size, seed, file, scratch)
    scratch.rmdir()  # is empty
    return result, list(read_lines(file))


@pytest.mark.parametrize("size", [1, 10, 4_000, 19_999])
def test_the_chosen_lines_are_those_of_a_text_of_known_length(tmp_path: Path, size: int) -> None:
    result, kept = written(TEXT, size, tmp_path)
    assert kept == [TEXT[number] for number in Selection(len(TEXT), size, "1").numbers()]
    assert (result.lines, result.written) == (20_000, size)
    assert len(result.few) == 10
    assert set(result.few) >= set(kept) if size <= 10 else set(result.few) <= set(kept)


@pytest.mark.parametrize("size", [20_000, 10**12])
def test_a_short_text_is_written_as_it_is(tmp_path: Path, size: int) -> None:
    result, kept = written(TEXT, size, tmp_path)
    assert kept == TEXT
    assert (result.lines, result.written) == (20_000, 20_000)
    write_lines(tmp_path / "plain.zst", TEXT)
    write_limited(TEXT, size, "1", tmp_path / "text.zst", tmp_path)
    assert (tmp_path / "text.zst").read_bytes() == (tmp_path / "plain.zst").read_bytes()


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"]))),
    st.integers(1, 9),
)
def test_any_text(tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int) -> None:
    result, kept = written(lines, size, tmp_path_factory.mktemp("any"))
    assert kept == [lines[number] for number in Selection(len(lines), size, "1").numbers()]
    assert len(result.few) == min(len(lines), 10)


@pytest.mark.parametrize(("lines", "characters"), [(7, 1 << 20), (1 << 14, 100), (1 << 20, 1 << 30)])
def test_the_choice_does_not_depend_on_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: int, characters: int
) -> None:
    expected = written(TEXT, 300, tmp_path)
    monkeypatch.setattr(limited, "LINES", lines)
    monkeypatch.setattr(limited, "CHARACTERS", characters)
    assert written(TEXT, 300, tmp_path) == expected


def test_few_of_many_lines_go_through_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    write_chosen = limited._write_chosen

    def watched(text: Path, *rest: object) -> None:
        sizes.append(sum(1 for _ in read_lines(text)))
        write_chosen(text, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(limited, "_write_chosen", watched)
    monkeypatch.setattr(limited, "LINES", 500)
    written(TEXT, 1_000, tmp_path)
    assert 1_000 <= sizes[0] < 5_000  # by the formula 4,000


def test_memory_does_not_grow_with_the_sample(tmp_path: Path) -> None:
    lines = (f"{number} {'word ' * 40}" for number in range(120_000))
    tracemalloc.start()
    try:
        write_limited(lines, 100_000, "1", tmp_path / "text.zst", tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000_000  # the sample alone has 20 MB
