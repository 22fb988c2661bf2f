"""Steps that train a model."""

from __future__ import annotations

import pytest

from tests.stages.configs import FINETUNED, graph
from translations_assets.why.estimates import TRAINING

GIVEN = FINETUNED + "finetuning: {old-text: 0.25}\n"


@pytest.mark.parametrize(
    ("label", "share"),
    [
        ("train-student-on-finetune-en-eo", 0.25),
        ("finetune-student-en-eo", 0.25),
        ("train-student-en-eo", None),
        ("train-teacher-en-eo-1", None),
        ("train-backwards-en-eo", None),
    ],
)
def test_the_share_of_old_text_is_told_where_text_to_finetune_on_is_read(
    label: str, share: float | None
) -> None:
    step = graph(GIVEN).step(label)
    assert step.args["old_text"] == share
    assert ("finetune" in step.inputs) == (share is not None)


def test_seeds_are_those_of_the_config() -> None:
    given = GIVEN.replace(
        "  student-model", "  seeds: {backwards: 5, teacher: 30, student: 7}\n  student-model"
    )
    given = given.replace("old-text: 0.25", "old-text: 0.25, models: [teacher, student]")
    given = given.replace("  student-model", "  teacher-ensemble: 2\n  student-model")
    seeds = {step.label: step.args["seed"] for step in graph(given).steps if step.script == TRAINING}
    assert seeds == {
        "train-backwards-en-eo": 5,
        "train-teacher-en-eo-1": 30,
        "train-teacher-en-eo-2": 31,
        "train-teacher-on-finetune-en-eo-1": 30,
        "train-teacher-on-finetune-en-eo-2": 31,
        "train-student-en-eo": 7,
        "train-student-on-finetune-en-eo": 7,
        "finetune-student-en-eo": 7,
    }
    seeds = {step.label: step.args["seed"] for step in graph(GIVEN).steps if step.script == TRAINING}
    assert {*seeds.values()} == {1, 1111}  # 1 for the first teacher
