"""Tests of pipeline.translate.split and pipeline.translate.collect."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.translate import collect, split

LINE = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n\r\ufeff"), max_size=5)


def split_text(folder: Path, lines: list[str], parts: int, references: list[str] | None = None) -> Path:
    write_lines(folder / "text.zst", lines)
    more = []
    if references is not None:
        write_lines(folder / "ref.zst", references)
        more = ["--references", str(folder / "ref.zst")]
    output = folder / "parts"
    split.main(["--text", str(folder / "text.zst"), "--parts", str(parts), "--output", str(output), *more])
    return output


def collect_parts(folder: Path, parts: list[Path]) -> Path:
    arguments = ["--parts", *map(str, parts), "--text", str(folder / "text.zst"), "--name", "mono.eo.zst"]
    collect.main([*arguments, "--output", str(folder / "collected")])
    return folder / "collected/mono.eo.zst"


@settings(max_examples=40, deadline=None)
@given(st.lists(LINE, max_size=12), st.integers(1, 15))
def test_collecting_what_was_split_gives_the_text(lines: list[str], parts: int) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        output = split_text(folder, lines, parts, references=[line.upper() for line in lines])
        files = [output / f"part.{number}.zst" for number in range(1, parts + 1)]
        references = [output / f"part.{number}.ref.zst" for number in range(1, parts + 1)]
        assert sorted(output.iterdir()) == sorted([*files, *references, output / "stats.json"])
        assert list(read_lines(collect_parts(folder, files))) == lines
        assert [line for file in references for line in read_lines(file)] == [line.upper() for line in lines]


def test_parts_are_about_the_same_size(tmp_path: Path) -> None:
    output = split_text(tmp_path, [str(number) for number in range(11)], 4)
    assert [list(read_lines(output / f"part.{number}.zst")) for number in range(1, 5)] == [
        ["0", "1", "2"],
        ["3", "4", "5"],
        ["6", "7", "8"],
        ["9", "10"],
    ]
    assert json.loads((output / "stats.json").read_text()) == {
        "lines": {"in": 11, "kept": 11, "dropped": {}},
        "parts": [3, 3, 3, 2],
    }


def test_references_of_another_length_are_refused(tmp_path: Path) -> None:
    for references in (["a"], ["a", "b", "c"]):
        with pytest.raises(InputError, match="Unequal numbers of lines"):
            split_text(tmp_path, ["1", "2"], 2, references)
        assert list((tmp_path / "parts").iterdir()) == []


def test_no_parts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 1"):
        split_text(tmp_path, ["1"], 0)


@pytest.mark.parametrize(("parts", "lines"), [((1, 3), 2), ((1, 2, 3, 3), 4)])
def test_a_part_that_is_missing_or_given_twice_is_noticed(
    tmp_path: Path, parts: tuple[int, ...], lines: int
) -> None:
    output = split_text(tmp_path, ["1", "2", "3"], 3)
    with pytest.raises(InputError, match=f"{lines} parts have {lines} lines together, .* has 3"):
        collect_parts(tmp_path, [output / f"part.{number}.zst" for number in parts])
    assert list((tmp_path / "collected").iterdir()) == []


def test_parts_are_collected_in_the_order_given(tmp_path: Path) -> None:
    output = split_text(tmp_path, [str(number) for number in range(11)], 11)
    parts = [output / f"part.{number}.zst" for number in range(1, 12)]  # part.10 after part.9
    assert list(read_lines(collect_parts(tmp_path, parts))) == [str(number) for number in range(11)]


def test_a_name_with_folders_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file name without folders"):
        collect.main(["--parts", "a", "--text", "a", "--name", "../x.zst", "--output", str(tmp_path / "o")])


def test_parts_of_weights_end_at_the_nearest_line() -> None:
    assert split.weighted_sizes(10, [1, 1, 1]) == [3, 4, 3]
    assert split.weighted_sizes(5, [0.7, 0.3]) == [4, 1]
