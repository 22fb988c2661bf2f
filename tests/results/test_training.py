"""Trainings as their script tells of them."""

from tests.checks import numbers
from translations_assets.results.training import CurvePoint, Training


def test_a_curve_keeps_what_marian_logged() -> None:
    point = CurvePoint.from_dict(
        {"kind": "train", "update": 300, "cost": 2.5, "epoch": 1, "learn_rate": None}
    )
    assert point == CurvePoint("train", 300, {"cost": 2.5, "epoch": 1})


def test_a_training_is_told_with_what_it_read() -> None:
    found = Training.from_dict(numbers.training(20.0, 30.0))
    assert (found.updates, found.best["chrf"].score, found.best["chrf"].update) == (200, 30.0, 200)
    assert found.texts == {"original": 1000, "dev": 100}
    assert [point.kind for point in found.curve] == ["train", "valid", "valid"]


def test_a_training_whose_gpu_never_was_full_says_nothing_of_it() -> None:
    plain = {"updates": 0, "best": {}, "curve": []}
    assert Training.from_dict(plain).out_of_memory_at is None
    assert Training.from_dict({**plain, "derived": {"optimizer-delay": 2}}).out_of_memory_at is None
    assert Training.from_dict({**plain, "derived": {"out-of-memory-at": 0}}).out_of_memory_at == 0
