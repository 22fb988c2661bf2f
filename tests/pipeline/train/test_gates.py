"""Real trainings that go wrong, and what the gates say of the curves that they leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.train import tiny
from tests.pipeline.train.training import metrics, train
from translations_assets.checks import models
from translations_assets.config.gates import TrainingCollapse, TrainingCurve
from translations_assets.results.training import Training

pytestmark = [pytest.mark.marian, pytest.mark.slow]

SHORT = {**tiny.TINY, "valid-freq": 50, "save-freq": 50, "after": "150u"}


def trained(folder: Path, **changed: object) -> Any:
    done = train(folder, {**SHORT, **{name.replace("_", "-"): value for name, value in changed.items()}})
    assert done.returncode == 0, done.stderr
    return {"train_teacher": {"train-teacher": Training.from_dict(metrics(folder))}}


def test_a_training_that_goes_well(tmp_path: Path) -> None:
    found = trained(tmp_path)
    verdict = models.collapse(found, TrainingCollapse())
    assert verdict.passed, verdict.description
    seen = models.curve(found, TrainingCurve())
    assert seen.numbers["epochs, train-teacher"] == pytest.approx(150 * 32 / 600, rel=0.05)


def test_a_learning_rate_that_is_far_too_high(tmp_path: Path) -> None:
    """Marian ends with status 0."""
    found = trained(tmp_path, learn_rate=3, lr_warmup=0, valid_freq=150, save_freq=150)
    verdict = models.collapse(found, TrainingCollapse())
    assert not verdict.passed
    assert "train-teacher " in verdict.description


def test_too_few_updates(tmp_path: Path) -> None:
    found = trained(tmp_path, after="10u", valid_freq=10, save_freq=10, disp_freq=5)
    assert "never learned to translate" in models.collapse(found, TrainingCollapse()).description
    verdict = models.curve(found, TrainingCurve())
    assert not verdict.passed
    assert "0.53 epochs seen" in verdict.description
