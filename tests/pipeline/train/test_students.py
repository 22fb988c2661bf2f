"""Tests of pipeline.train.train with Marian: students, which learn from alignments."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.pipeline.train import tiny
from tests.pipeline.train.training import (
    QUICK,
    metrics,
    names,
    student_options,
    train,
)

pytestmark = [pytest.mark.marian, pytest.mark.slow]

SHAPE = {
    "dim-emb": 32,
    "transformer-dim-ffn": 64,
    "transformer-heads": 2,
    "enc-depth": 2,
    "dec-depth": 1,
}
STUDENT = {
    **SHAPE,
    "transformer-dropout": 0.1,
    "mini-batch": 32,
    "maxi-batch": 2,
    "learn-rate": 0.01,
    "lr-warmup": 5,
    "disp-freq": 1,
}


def student_configs(step: str) -> dict[str, object]:
    return {
        "model-config": tiny.CONFIGS / "model/student.tiny.yml",
        "training-config": tiny.CONFIGS / f"training/student.{step}.yml",
        "curriculum": tiny.CONFIGS / "curriculum/student.yml",
    }


@pytest.fixture(scope="module")
def student(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A student of six updates, trained with guided alignment."""
    folder = tmp_path_factory.mktemp("student")
    return train_student(folder, "train", {"after": "6u"})


def train_student(
    folder: Path, step: str, marian_args: Mapping[str, object], options: Mapping[str, object] | None = None
) -> Path:
    given = {**student_options(folder), **student_configs(step), **(options or {})}
    done = train(folder, {**STUDENT, **marian_args}, given)
    assert done.returncode == 0, done.stderr
    return folder


def test_a_student_learns_from_alignments_and_long_pairs_are_dropped(student: Path) -> None:
    costs = [point["cost"] for point in metrics(student)["curve"] if point["kind"] == "train"]
    assert len(costs) == 6
    assert all(cost == cost for cost in costs)  # a pair that is cropped makes the cost NaN
    assert metrics(student)["pairs"]["original"] == {"in": 201, "kept": 200, "dropped": {"too long": 1}}


def test_a_student_is_finetuned_in_its_shape_and_with_the_options_of_finetuning(
    student: Path, tmp_path: Path
) -> None:
    """Without its shape (`dim-emb` …) another model would be built, into which its weights do not fit."""
    begun = {"pretrained": student / "out", "pretrained-shape": student / "out/marian-args.yml"}
    files = {**student_options(tmp_path), **student_configs("finetune"), **begun}
    given = {"after": "2u", "mini-batch": 32, "maxi-batch": 2}
    done = train(tmp_path, given, files)
    assert done.returncode == 0, done.stderr
    other = tmp_path
    options = yaml.safe_load((other / "out/marian-args.yml").read_text())
    assert options == {**SHAPE, **given}
    assert metrics(other)["updates"] == 2
    first = metrics(other)["curve"][0]["cost"]
    begun, ended = (metrics(student)["curve"][i]["cost"] for i in (0, 5))
    assert abs(first - ended) < abs(first - begun)


def test_a_pretrained_model_with_another_vocabulary_is_refused(student: Path, tmp_path: Path) -> None:
    corpus = tiny.corpus()
    vocabs = corpus.vocabs[1], corpus.vocabs[1]
    other = tiny.training_pairs(tmp_path / "pairs", vocabs, *corpus.train)
    options = {"pretrained": student / "out", "source-vocab": vocabs[0], "original": other}
    done = train(tmp_path, {**QUICK, "after": "1u"}, options)
    assert done.returncode == 1
    assert "The pretrained model has another vocabulary" in done.stderr
    assert names(tmp_path / "out") == []
