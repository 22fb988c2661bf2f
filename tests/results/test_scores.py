"""Scores as people and programs are told them."""

from typing import Any

import pytest

from translations_assets.results.scores import Comparison, MetricScore, Scores


def test_scores_are_told_with_half_their_interval() -> None:
    assert str(MetricScore(58.26, ci=0.649)) == "58.3 ± 0.6"
    assert str(MetricScore(58.24)) == "58.2"


def test_scores_stand_in_one_order_whatever_else_an_evaluation_holds() -> None:
    evaluation = {"comet": {"score": -8.5}, "dataset": "x", "chrf": {"score": 2.0}, "engine": "x"}
    scores = Scores.from_dict(evaluation)
    assert [*scores.by_metric] == ["chrf", "comet"]
    assert scores.by_metric["comet"].score == -8.5
    further = Scores.from_dict({"dataset": "x", "spbleu": {"score": 3.0}, "comet": {"score": 9.0}})
    joined = scores.with_metrics(further).by_metric
    assert {name: found.score for name, found in joined.items()} == {"chrf": 2.0, "spbleu": 3.0, "comet": 9.0}
    assert [*joined] == ["chrf", "spbleu", "comet"]
    judged = scores.with_metrics(Scores.from_dict({"dataset": "x", "judge": {"score": 71.0, "ci": 2.0}}))
    assert [*judged.by_metric] == ["chrf", "comet", "judge"]
    assert str(judged.by_metric["judge"]) == "71.0 ± 2.0"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"chrf": {"score": "high"}}, "by_metric: score: 'high' is no number"),
        ({"chrf": {}}, "by_metric: it has no score"),
        ({"speed": {"words_per_second": 9.0}}, "speed: it has no memory_megabytes"),
        ({"dataset": None}, "dataset: None is no text"),
    ],
)
def test_what_is_no_score_is_refused(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Scores.from_dict({"dataset": "x", "chrf": {"score": 2.0}, **changed})


def test_a_difference_is_positive_where_the_model_is_better() -> None:
    numbers = {
        "dataset": "x",
        "model": "student",
        "lines": 2,
        "others": {
            "released": {"chrf": {"score": 50.0, "other": 48.12345, "p_value": 0.01}},
            "teacher-1": {
                "chrf": {"score": 50.0, "other": 51.0, "p_value": 0.2},
                "comet": {"score": 80.0, "other": 81.5, "p_value": 0.03},
            },
        },
    }
    others = Scores("x", {}).with_others(Comparison.from_dict(numbers)).others
    found = {
        name: {metric: (one.difference, one.p_value) for metric, one in by_metric.items()}
        for name, by_metric in others.items()
    }
    assert found == {
        "released": {"chrf": (1.8766, 0.01)},
        "teacher-1": {"chrf": (-1.0, 0.2), "comet": (-1.5, 0.03)},
    }
