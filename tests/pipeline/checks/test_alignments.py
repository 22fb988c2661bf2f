"""Numbers of alignments."""

from pathlib import Path
from typing import Any

import pytest

from pipeline.checks.alignments import main
from pipeline.common.errors import InputError
from tests.pipeline.checks.helpers import numbers, text


def of_lines(folder: Path, *lines: tuple[str, str, str]) -> dict[str, Any]:
    files = [
        text(folder / name, [line[side] for line in lines]) for side, name in enumerate(("a", "b", "links"))
    ]
    return numbers(main, folder / "out", "--tokens", *files[:2], "--alignments", files[2])


def test_links_are_counted(tmp_path: Path) -> None:
    found = of_lines(
        tmp_path, ("a ▁ b", "x ▁ y .", "0-0 2-2"), ("a", "x", ""), ("", "x", ""), ("a", "x", "0-0")
    )
    assert (found["lines"], found["links"], found["no_links"], found["no_links_share"]) == (4, 3, 1, 0.25)
    assert found["links_per_word"] == pytest.approx(6 / 10, abs=1e-3)  # a b x y . a x x a x
    assert (found["out_of_range"], found["malformed"]) == (0, 0)
    assert found["samples"] == {
        "no_links": [["a", "x", ""]],
        "linked": [["a ▁ b", "x ▁ y .", "a – x, b – y"], ["a", "x", "a – x"]],
    }


def test_a_few_lines_with_links_are_drawn_from_all(tmp_path: Path) -> None:
    """None of those whose links are faulty, nor of those without."""
    good = [(f"a{line} b", f"x y{line}", "0-1 1-0") for line in range(500)]
    bad = [("a", "x", "1-0"), ("a", "x", "nothing"), ("a", "x", "")]
    found = of_lines(tmp_path, *(line for pair in zip(good, bad * 200, strict=False) for line in pair))
    linked = found["samples"]["linked"]
    numbers = [int(source.removeprefix("a").removesuffix(" b")) for source, _, _ in linked]
    assert len(set(numbers)) == 5
    assert max(numbers) > 100  # the first ones would be the first five
    assert [line[2] for line in linked] == [f"a{one} – y{one}, b – x" for one in numbers]


def test_links_beyond_a_lines_end(tmp_path: Path) -> None:
    found = of_lines(tmp_path, ("a b", "x", "0-0 1-0"), ("a b", "x", "2-0 0-1 1-0"), ("", "", "0-0"))
    assert found["out_of_range"] == 3
    assert [sample[2] for sample in found["samples"]["out_of_range"]] == ["2-0 0-1 1-0", "0-0"]


@pytest.mark.parametrize("links", ["0-", "a-b", "0-0  1-1", "0-0\t1-1", "-1-0", "0.5-1", "9" * 30 + "-0"])
def test_lines_that_hold_no_links(tmp_path: Path, links: str) -> None:
    found = of_lines(tmp_path, ("a b", "x y", links), ("a", "x", "0-0"))
    assert (found["malformed"], found["links"], found["no_links"]) == (1, 1, 0)
    assert found["samples"]["malformed"] == [["a b", "x y", links]]


def test_files_of_unequal_length(tmp_path: Path) -> None:
    files = [text(tmp_path / name, ["a"] * count) for name, count in (("a", 2), ("b", 2), ("links", 1))]
    with pytest.raises(InputError, match="Unequal"):
        numbers(main, tmp_path / "out", "--tokens", *files[:2], "--alignments", files[2])
