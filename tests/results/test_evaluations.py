"""Tests of the model of a score, and of the model for users."""

import pytest

from translations_assets.results.evaluations import name_of_model, shown_model


@pytest.mark.parametrize(
    ("stage", "label", "model"),
    [
        ("evaluate_teacher", "evaluate-teacher-2-flores_devtest-en-ru", "teacher-2"),
        ("evaluate_teacher", "evaluate-teacher-12-flores_devtest-en-ru", "teacher-12"),
        ("evaluate_teacher_ensemble", "evaluate-teacher-ensemble-flores_devtest-en-ru", "teacher-ensemble"),
        (
            "evaluate_finetuned_student",
            "evaluate-finetuned-student-flores_devtest-en-ru",
            "finetuned-student",
        ),
        ("evaluate_backwards", "evaluate-backwards-flores_devtest-en-ru", "backwards"),
        ("final_evaluation", "final-evaluation-released-flores_devtest-en-ru", "released"),
    ],
)
def test_models_are_called_by_what_evaluates_them(stage: str, label: str, model: str) -> None:
    assert name_of_model(stage, label, {"name": "released"}) == model


def test_users_get_the_exported_model_else_the_last_that_translates_forwards() -> None:
    order = ["backwards", "teacher-1", "student", "exported", "released"]
    assert shown_model(order) == "exported"
    assert shown_model(order[:3]) == "student"
    assert shown_model([*order[1:3], "backwards"]) == "student"
    assert shown_model(["backwards"]) == shown_model([]) == ""
