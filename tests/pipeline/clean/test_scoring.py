"""Tests of what is told of scores."""

from pathlib import Path

from pipeline.clean.scoring import _write
from pipeline.common.lines import read_lines


def test_a_perfect_score_is_in_the_last_tenth(tmp_path: Path) -> None:
    scores = ["1.0", "0.95", "0.05", "0.5", "0"]
    told = _write(scores, tmp_path / "scores.zst")
    assert told["mean"] == 0.5
    assert told["scores"] == {**{f"0.{tenth}": 0 for tenth in range(10)}, "0.0": 2, "0.5": 1, "0.9": 2}
    assert [*read_lines(tmp_path / "scores.zst")] == scores
