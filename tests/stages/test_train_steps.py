"""Steps that train a model."""

from __future__ import annotations

import pytest

from tests.stages.configs import FINETUNED, graph

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
