"""Tests of pipeline.train.curve."""

import json
from pathlib import Path

import pytest

from pipeline.common.errors import InputError
from pipeline.train.curve import Curve, parse_training, parse_validation

TRAINING = (
    "[2026-01-02 03:04:05] Ep. 2 : Up. 1,500 : Sen. 48,000 : Cost 3.70189333 * 2,457 @ 512 after 7,567 : "
    "Time 0.08s : 31376.88 words/s : gNorm 1.5281 : L.r. 3.0000e-04"
)
VALIDATION = "[2026-01-02 03:04:05] [valid] Ep. 1 : Up. 1,500 : {} : {} : new best"
METRICS = ["chrf", "ce-mean-words", "bleu-detok"]


def test_a_line_about_training() -> None:
    assert parse_training(TRAINING) == {
        "kind": "train",
        "update": 1500,
        "epoch": 2,
        "sentences": 48000,
        "cost": 3.70189333,
        "words_per_second": 31376.88,
        "learn_rate": 0.0003,
    }


def test_lines_without_label_counts_or_learning_rate() -> None:
    line = "Ep. 1 : Up. 10 : Sen. 320 : Cost 6.05 : Time 0.79s : 6836.87 words/s : gNorm 1.5770"
    point = parse_training(line)
    assert point is not None
    assert (point["cost"], point["words_per_second"], point["learn_rate"]) == (6.05, 6836.87, None)


def test_lines_about_validation() -> None:
    stalled = "[valid] Ep. 1 : Up. 30 : bleu-detok : 0 : stalled 1 times (last best: 0)"
    assert parse_validation(VALIDATION.format("ce-mean-words", "1.77169")) == (1500, "ce-mean-words", 1.77169)
    assert parse_validation(stalled) == (30, "bleu-detok", 0.0)


@pytest.mark.parametrize(
    "line",
    ["", "[valid]   Hyp: la Ep. 1", "[training] Saving training checkpoint to a and b", "Seen 1 samples"],
)
def test_other_lines(line: str) -> None:
    assert parse_training(line) is None
    assert parse_validation(line) is None


def curve(tmp_path: Path) -> Curve:
    return Curve(tmp_path / "curve.jsonl", METRICS, tmp_path / "live.jsonl")


def validate(points: Curve, update: int, chrf: float, cost: float, bleu: float) -> None:
    for metric, score in zip(METRICS, (chrf, cost, bleu), strict=True):
        points.read(f"[valid] Ep. 1 : Up. {update} : {metric} : {score} : new best")


def test_points_go_to_the_file_and_live(tmp_path: Path) -> None:
    points = curve(tmp_path)
    points.read(TRAINING)
    validate(points, 1500, 50.5, 2.25, 20.125)
    live = [json.loads(line) for line in (tmp_path / "live.jsonl").read_text().splitlines()]
    assert live == points.points
    assert live[1] == {"kind": "valid", "update": 1500, "chrf": 50.5, "ce-mean-words": 2.25, "bleu": 20.125}
    assert (tmp_path / "curve.jsonl").read_text() == (tmp_path / "live.jsonl").read_text()


def test_best_scores_are_the_highest_but_the_lowest_cost(tmp_path: Path) -> None:
    points = curve(tmp_path)
    validate(points, 100, 40, 3.0, 10)
    validate(points, 200, 60, 2.0, 9)
    validate(points, 300, 50, 2.5, 8)
    assert points.best() == {
        "chrf": {"score": 60.0, "update": 200},
        "ce-mean-words": {"score": 2.0, "update": 200},
        "bleu": {"score": 10.0, "update": 100},
    }


def test_an_earlier_attempt_counts_up_to_its_checkpoint(tmp_path: Path) -> None:
    first = curve(tmp_path)
    validate(first, 100, 40, 3.0, 10)
    validate(first, 200, 60, 2.0, 9)
    second = curve(tmp_path)
    second.restore(update=150)
    validate(second, 200, 55, 2.1, 9)
    assert [point["update"] for point in second.points] == [100, 200]
    assert second.best()["chrf"] == {"score": 55.0, "update": 200}
    assert len((tmp_path / "curve.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "line",
    [
        "Ep. 1 : Up. 7 : Sen. 320 : Cost nan : Time 0.79s : 6836.87 words/s : gNorm nan",
        "Ep. 1 : Up. 7 : Sen. 320 : Cost -nan * 2,571 @ 480 after 2 : Time 0.1s : 1.0 words/s : gNorm 1",
        "[valid] Ep. 1 : Up. 7 : ce-mean-words : nan : stalled 1 times (last best: 1.7)",
    ],
)
def test_a_cost_that_is_not_a_number_is_an_error(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match="update 7: training diverged"):
        curve(tmp_path).read(line)


def test_a_save_before_the_first_point_has_no_curve_to_restore(tmp_path: Path) -> None:
    first = curve(tmp_path)
    first.restore(update=3)
    assert first.points == []
    validate(first, 100, 40, 3.0, 10)
    assert [point["update"] for point in first.points] == [100]
