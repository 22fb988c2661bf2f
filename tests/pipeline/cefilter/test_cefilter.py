"""Tests of pipeline.cefilter."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cefilter.filter import Worst, main
from pipeline.cefilter.scores import read_scores
from pipeline.common.errors import InputError
from pipeline.common.lines import write_lines
from tests.pipeline.train import tiny


def keep(folder: Path, scores: list[str], drop: str = "0.05", pairs: int | None = None) -> list[str]:
    """Filter pairs (s0, t0), (s1, t1), …; returns the targets that are kept."""
    number = len(scores) if pairs is None else pairs
    write_lines(folder / "s.zst", (f"s{i}" for i in range(number)))
    write_lines(folder / "t.zst", (f"t{i}" for i in range(number)))
    write_lines(folder / "scores.zst", scores)
    files = ["--corpus-src", str(folder / "s.zst"), "--corpus-trg", str(folder / "t.zst")]
    files += ["--scores", str(folder / "scores.zst"), "--output", str(folder / "out")]
    main(["--src", "en", "--trg", "eo", "--drop", drop, *files])
    kept = tiny.lines_of(folder / "out/corpus.eo.zst")
    assert tiny.lines_of(folder / "out/corpus.en.zst") == [line.replace("t", "s") for line in kept]
    return kept


def test_the_lowest_twentieth_goes_and_the_order_stays(tmp_path: Path) -> None:
    scores = [str(-(7 * i % 41)) for i in range(40)]
    worst = sorted(range(40), key=lambda i: float(scores[i]))[:2]
    assert keep(tmp_path, scores) == [f"t{i}" for i in range(40) if i not in worst]
    stats = json.loads((tmp_path / "out/stats.json").read_text())
    assert stats["lines"] == {"in": 40, "kept": 38, "dropped": {"low score": 2}}
    assert sorted(stats["samples"]) == sorted([f"s{i}", f"t{i}"] for i in worst)


def test_scores_are_numbers_not_text(tmp_path: Path) -> None:
    scores = ["-1e-3", "-10.5", "-9", "-2e1", "-0.5"] * 4
    kept = keep(tmp_path, scores, drop="0.2")
    assert kept == [f"t{i}" for i in range(20) if scores[i] != "-2e1"]


@pytest.mark.parametrize(("pairs", "dropped"), [(0, 0), (19, 0), (20, 1), (39, 1), (60, 3), (100, 5)])
def test_the_number_dropped_is_rounded_down(tmp_path: Path, pairs: int, dropped: int) -> None:
    assert len(keep(tmp_path, [f"-{i}" for i in range(pairs)])) == pairs - dropped


def test_nothing_is_dropped_when_none_is_to_go(tmp_path: Path) -> None:
    assert len(keep(tmp_path, ["-1", "-2", "-3"], drop="0")) == 3


def test_decimal_shares_are_exact(tmp_path: Path) -> None:
    assert math.floor(0.29 * 100) == 28  # in binary floating point
    assert len(keep(tmp_path, [f"-{i}" for i in range(100)], drop="0.29")) == 71


def test_among_equals_the_earlier_goes_first(tmp_path: Path) -> None:
    scores = ["-1"] * 4 + ["-2"] + ["-1"] * 5
    assert keep(tmp_path, scores, drop="0.3") == ["t2", "t3", "t5", "t6", "t7", "t8", "t9"]


@given(st.lists(st.sampled_from([-math.inf, -2.0, -1.5, -1.0, 0.0]), max_size=30), st.integers(0, 30))
def test_what_goes_is_the_front_of_a_stable_sort(scores: list[float], number: int) -> None:
    number = min(number, len(scores))
    expected = set(sorted(range(len(scores)), key=lambda i: scores[i])[:number])
    assert [i for i, gone in enumerate(Worst(np.array(scores), number)) if gone] == sorted(expected)


@pytest.mark.parametrize("score", ["nan", "-nan", "", "abc", "1,5", "-1 2"])
def test_what_is_no_number_is_refused_with_its_line(tmp_path: Path, score: str) -> None:
    with pytest.raises(InputError, match=r"scores\.zst, line 3: not a number"):
        keep(tmp_path, ["-1", "-2", score, "-3"])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("pairs", [19, 21])
def test_scores_of_another_corpus_are_refused(tmp_path: Path, pairs: int) -> None:
    with pytest.raises(InputError, match="has more lines than"):
        keep(tmp_path, ["-1"] * 20, pairs=pairs)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_corpus_without_scores_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has more lines than .*scores\.zst \(0\)"):
        keep(tmp_path, [], pairs=1)


@pytest.mark.parametrize("drop", ["1", "-0.1"])
def test_an_impossible_share_is_refused(tmp_path: Path, drop: str) -> None:
    with pytest.raises(InputError, match="--drop"):
        keep(tmp_path, ["-1"], drop=drop)
    assert Fraction(drop) in (1, Fraction(-1, 10))


@pytest.mark.slow
@pytest.mark.marian
def test_a_corpus_is_scored_in_the_models_direction(tmp_path: Path) -> None:
    pairs = tiny.pairs(30, seed=2)
    right = [1.0 * (i < 20) for i in range(30)]
    targets = [pairs[i if right[i] else (i + 1) % 30][1] for i in range(30)]
    write_lines(tmp_path / "s.zst", (source for source, _ in pairs))
    write_lines(tmp_path / "t.zst", targets)
    sides = ("--model-source", tmp_path / "s.zst", "--model-target", tmp_path / "t.zst")
    done = tiny.run_script(
        "pipeline.cefilter.score", "--model", tiny.model(), *sides, "--output", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    scores = list(read_scores(tmp_path / "out/scores.zst"))
    assert len(scores) == 30
    assert max(scores) <= 0
    assert np.mean(scores[:20]) > np.mean(scores[20:]) + 0.5
    stats = json.loads((tmp_path / "out/stats.json").read_text())
    assert stats["mean"] == pytest.approx(np.mean(scores))
