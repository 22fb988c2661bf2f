"""Pairs drawn at random."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.common.lines import read_lines, write_lines
from pipeline.common.selection import STRETCH
from pipeline.data import corpus_script
from pipeline.data.sample_pairs import main


def drawn(folder: Path, most: int, seed: int = 1, lines: int = 1000) -> list[tuple[int, int]]:
    for lang in ("en", "ru"):
        write_lines(folder / lang, [f"{lang} {number}" for number in range(lines)])
    texts = ["--corpus-src", str(folder / "en"), "--corpus-trg", str(folder / "ru")]
    options = ["--src", "en", "--trg", "ru", "--max-sentences", str(most), "--seed", str(seed)]
    main([*options, *texts, "--output", str(folder / f"out{most}-{seed}")])
    sides = [read_lines(folder / f"out{most}-{seed}" / f"corpus.{lang}.zst") for lang in ("en", "ru")]
    return [(int(src.split()[1]), int(trg.split()[1])) for src, trg in zip(*sides, strict=True)]


def test_pairs_stay_together_and_in_order(tmp_path: Path) -> None:
    pairs = drawn(tmp_path, 300)
    assert len(pairs) == 300
    assert all(src == trg for src, trg in pairs)
    assert pairs == sorted(pairs)
    stats = json.loads((tmp_path / "out300-1/stats.json").read_text())
    assert stats["lines"] == {"in": 1000, "kept": 300, "dropped": {"not drawn": 700}}


def test_each_part_of_the_corpus_has_its_chance_and_the_seed_decides(tmp_path: Path) -> None:
    first, other = drawn(tmp_path, 300), drawn(tmp_path, 300, seed=2)
    assert first != other
    for start in (0, 500):
        assert sum(start <= src < start + 500 for src, _ in first) == pytest.approx(150, abs=40)


@pytest.mark.parametrize("most", [1000, 5000])
def test_a_corpus_that_has_no_more_comes_out_whole(tmp_path: Path, most: int) -> None:
    assert [src for src, _ in drawn(tmp_path, most)] == list(range(1000))


def test_a_large_corpus_is_drawn_stretch_by_stretch() -> None:
    total = 2 * STRETCH + 10
    found = [*corpus_script.drawn(range(total), total, 40_000, seed=1)]
    assert len(found) == 40_000
    assert found == sorted(set(found))
    for start in range(0, total - 10, STRETCH // 4):
        assert sum(start <= number < start + STRETCH // 4 for number in found) == pytest.approx(5000, rel=0.1)
