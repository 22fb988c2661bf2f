"""Scores as people and programs are told them."""

from translations_assets.records.scores import differences_in, scores_in, shown


def test_scores_are_told_with_half_their_interval() -> None:
    assert shown({"score": 58.26, "ci": 0.649}) == "58.3 ± 0.6"
    assert shown({"score": 58.24}) == "58.2"


def test_scores_stand_in_one_order_whatever_else_an_evaluation_holds() -> None:
    evaluation = {"comet": {"score": 80.0}, "dataset": "x", "chrf": {"score": 2.0}, "bleu": {"score": 1.0}}
    assert [*scores_in(evaluation)] == ["bleu", "chrf", "comet"]


def test_a_difference_is_positive_where_the_model_is_better() -> None:
    numbers = {
        "others": {
            "released": {"chrf": {"score": 50.0, "other": 48.12345, "p_value": 0.01}},
            "teacher-1": {
                "chrf": {"score": 50.0, "other": 51.0, "p_value": 0.2},
                "comet": {"score": 80.0, "other": 81.5, "p_value": 0.03},
            },
        }
    }
    assert differences_in(numbers) == {
        "released": {"chrf": {"difference": 1.8766, "p_value": 0.01}},
        "teacher-1": {
            "chrf": {"difference": -1.0, "p_value": 0.2},
            "comet": {"difference": -1.5, "p_value": 0.03},
        },
    }
