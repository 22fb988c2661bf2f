"""Neighbouring lines joined to windows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines, write_lines
from pipeline.data.windows import main

Pairs = list[tuple[str, str]]


def pairs_of(count: int, words: int = 5) -> Pairs:
    return [(" ".join([f"s{number}"] * words), " ".join([f"t{number}"] * words)) for number in range(count)]


def windows(folder: Path, pairs: Pairs, *options: str, kept: Pairs | None = None) -> Pairs:
    given = []
    for name, text in {"corpus": pairs, "kept": kept}.items():
        for side, column in enumerate(zip(*text, strict=True) if text else ()):
            lang = ("src", "trg")[side]
            write_lines(folder / f"{name}.{lang}", list(column))
            given += [f"--{name}-{lang}", str(folder / f"{name}.{lang}")]
    fixed = ["--src", "en", "--trg", "ru", "--separator", "¶", "--output", str(folder / "out")]
    main([*fixed, *given, *options])
    sides = (read_lines(folder / "out" / f"corpus.{lang}.zst") for lang in ("en", "ru"))
    return list(zip(*sides, strict=True))


def numbers(found: Pairs) -> list[list[int]]:
    """The lines of each window, by their numbers."""
    for src, trg in found:
        assert src.replace("s", "t") == trg
    return [[int(line.split()[0][1:]) for line in src.split(" ¶ ")] for src, _ in found]


def test_lines_are_joined_in_order_up_to_so_many_words(tmp_path: Path) -> None:
    found = windows(tmp_path, pairs_of(7), "--max-words", "15")
    assert numbers(found) == [[0, 1, 2], [3, 4, 5]]  # the last line has no neighbour left
    assert found[0][0] == "s0 s0 s0 s0 s0 ¶ s1 s1 s1 s1 s1 ¶ s2 s2 s2 s2 s2"


def test_the_longer_side_counts_and_a_long_line_stands_alone(tmp_path: Path) -> None:
    pairs = [("a", "b c d e"), ("f", "g h i j"), ("k " * 20, "l"), ("m", "n"), ("o", "p")]
    found = windows(tmp_path, pairs, "--max-words", "8")
    assert [src for src, _ in found] == ["a ¶ f", "m ¶ o"]


def test_what_was_not_kept_or_is_empty_ends_a_window(tmp_path: Path) -> None:
    pairs = pairs_of(10)
    kept = [pair for number, pair in enumerate(pairs) if number != 4]
    broken = [*pairs[:7], ("", ""), *pairs[7:]]
    found = windows(tmp_path, broken, "--max-words", "100", kept=kept[::-1])
    assert numbers(found) == [[0, 1, 2, 3], [5, 6], [7, 8, 9]]


def test_both_sides_must_have_been_kept_together(tmp_path: Path) -> None:
    pairs = pairs_of(4)
    exchanged = [(pairs[0][0], pairs[1][1]), (pairs[1][0], pairs[0][1]), *pairs[2:]]
    assert numbers(windows(tmp_path, pairs, "--max-words", "50", kept=exchanged)) == [[2, 3]]


def test_a_share_is_drawn(tmp_path: Path) -> None:
    found = windows(tmp_path, pairs_of(200), "--max-words", "10", "--share", "0.1", kept=pairs_of(200))
    assert len(found) == 20
    assert numbers(found) == sorted(numbers(found))
    stats = json.loads((tmp_path / "out/stats.json").read_text())
    assert (stats["windows"], stats["lines in windows"], stats["lines"]["kept"]) == (100, 200, 20)


def test_characters_count_where_no_spaces_part_words(tmp_path: Path) -> None:
    pairs = [("五个汉字啊", "five"), ("五个汉字吗", "Five"), ("五个汉字吧", "FIVE")]
    assert len(windows(tmp_path, pairs, "--max-words", "4", "--src-unspaced")) == 1


def test_a_test_set_without_neighbours_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="It is empty"):
        windows(tmp_path, pairs_of(2, words=50), "--max-words", "60")
