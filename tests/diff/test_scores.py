"""Scores, their significance, and the sentences that changed most, of translations that are compared."""

import json
from pathlib import Path
from typing import Any

import pytest
from sacrebleu import sentence_chrf

from pipeline.checks.differences import differences
from pipeline.eval.metrics import evaluation_metrics
from tests.cli.conftest import Command, make
from tests.diff.conftest import Diff
from tests.diff.translated import REFERENCES, SOURCE, Translating, garbled
from tests.diff.values import blob, evaluated, packed, run
from tests.store.values import finish
from translations_assets.diff.evaluations import evaluations_of
from translations_assets.diff.scores import ScoreChange, compare_scores
from translations_assets.diff.words import score_line
from translations_assets.store.local import LocalStore

STUDENT = {"marian-args.training-student.after": "30u"}


@pytest.mark.slow
def test_significance_is_that_of_the_script_that_compares_models(command: Command, diff: Diff) -> None:
    before, after = garbled(0.3, seed=2), garbled(0.2, seed=3)
    make("evaluate_exported", run="before", runner=Translating(before))
    make("evaluate_exported", run="after", overrides=STUDENT, runner=Translating(after, 3000.0))
    found = diff("before", "after", "--sentences", "7")
    expected, _ = differences([("new", after), ("old", before)], REFERENCES, evaluation_metrics("eo"))
    told = [one for one in found["scores"] if one["model"] == "exported"]
    assert {one["metric"]: one["p_value"] for one in told} == {
        metric: one["p_value"] for metric, one in expected["old"].items()
    }
    assert {one["difference"] for one in told} == {
        round(one["score"] - one["other"], 4) for one in expected["old"].values()
    }
    assert {(one["test"], one["verdict"]) for one in told} == {("paired bootstrap", "better")}
    assert [one["p_value"] for one in diff("after", "before")["scores"]] == [one["p_value"] for one in told]
    _check_sentences(found["sentences"], before, after)
    (speed,) = found["models"]
    assert [speed[side]["speed"]["words_per_second"] for side in ("old", "new")] == [2500.0, 3000.0]
    people = command("diff", "before", "after")
    (line,) = (line for line in people.out.splitlines() if line.startswith("exported on tiny: "))
    assert line.endswith(f"significantly better, p = {expected['old']['chrf']['p_value']:.3f}.")
    same = command("diff", "before", "before").out.splitlines()
    assert same[3:] == [
        "All 58 steps that both have are the same.",
        "exported translates 0 of 120 test sentences differently.",
    ]


def _check_sentences(found: dict[str, Any], before: list[str], after: list[str]) -> None:
    """The seven whose two translations have least in common, each with what it is told with."""
    changed = [line for line in range(len(before)) if before[line] != after[line]]
    assert (found["model"], found["lines"], found["changed"]) == ("exported", len(before), len(changed))
    between = {line: sentence_chrf(after[line], [before[line]]).score for line in changed}
    expected = sorted(changed, key=lambda line: (round(between[line], 2), line))[:7]
    assert [one["line"] - 1 for one in found["sentences"]] == expected
    for one, line in zip(found["sentences"], expected, strict=True):
        assert [one[name] for name in ("source", "reference", "old", "new")] == [
            text[line] for text in (SOURCE, REFERENCES, before, after)
        ]
        assert one["new_chrf"] == pytest.approx(
            sentence_chrf(after[line], [REFERENCES[line]]).score, abs=0.01
        )


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(tmp_path)


def compared(store: LocalStore, old: dict[str, Any], new: dict[str, Any]) -> list[ScoreChange]:
    """Two evaluations without translations."""
    sides = [run(store, f"0{n}", evaluated(store, n, scores)) for n, scores in (("a", old), ("b", new))]
    found = [evaluations_of(store, side) for side in sides]
    return compare_scores(store, found[0], found[1], lambda done, total: None)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"score": 80.0, "ci": 0.5}, {"score": 81.1, "ci": 0.5}, "better, the intervals do not overlap"),
        ({"score": 81.1, "ci": 0.5}, {"score": 80.0, "ci": 0.5}, "worse, the intervals do not overlap"),
        ({"score": 80.0, "ci": 0.5}, {"score": 80.9, "ci": 0.5}, "not told apart, the intervals overlap"),
        ({"score": 80.0}, {"score": 90.0, "ci": 0.5}, None),
        (
            {"score": 80.0, "ci": 0.5, "signature": "a"},
            {"score": 90.0, "ci": 0.5, "signature": "b"},
            "its sig",
        ),
    ],
)
def test_neural_metrics_are_told_apart_by_their_intervals(
    store: LocalStore, old: dict[str, Any], new: dict[str, Any], expected: str | None
) -> None:
    (change,) = compared(store, {"comet": old}, {"comet": new})
    assert change.p_value is None
    assert (expected or "another text") in score_line(change)
    assert (change.test == "intervals") is ("intervals" in (expected or ""))


def test_less_of_an_error_is_better(store: LocalStore) -> None:
    scores = [{"metricx24": {"score": score, "ci": 0.1}} for score in (3.0, 2.0)]
    assert [one.verdict for one in compared(store, *scores)] == ["better"]


def test_a_metric_or_an_evaluation_of_one_side_is_said(store: LocalStore) -> None:
    chrf = {"chrf": {"score": 50.0, "ci": 0.5}}
    (change,) = compared(store, chrf, {**chrf, "comet": {"score": 80.0, "ci": 0.5}})
    assert score_line(change) == "COMET - → 80.0 ± 0.5: the old side has no such score"


def test_scores_by_further_metrics_are_those_of_the_same_translations(store: LocalStore) -> None:
    """Two models are evaluated; each has a step that scores its translations, with a model for spBLEU."""
    made, pieces = [], store.add_bytes(b"pieces")
    for model in ("teacher-1", "teacher-2"):
        text = blob(store, [model])
        metrics = json.dumps({"dataset": "tiny", "chrf": {"score": 50.0}}).encode()
        outputs = {"metrics.json": metrics, "translations.zst": packed([model])}
        label = f"evaluate-{model}-tiny-en-ru"
        made.append(finish(store, label, outputs, stage="evaluate_teacher", args={"dataset": "tiny"}))
        for metric in ("comet", "spbleu"):
            score = json.dumps({"dataset": "tiny", metric: {"score": 80.0 + int(model[-1])}}).encode()
            inputs = {"translations/translations.zst": text, "model/flores.spm": pieces}
            step: dict[str, Any] = {"script": f"pipeline.eval.{metric}", "args": {"dataset": "tiny"}}
            label = f"{metric}-{model}-tiny-en-ru"
            made.append(
                finish(store, label, {"scores.json": score}, inputs, stage="evaluate_teacher", **step)
            )
    found = evaluations_of(store, run(store, "0a", *made))
    assert [(tested.model, one.scores.numbers) for tested, one in found.items()] == [
        ("teacher-1", {"spbleu": 81.0, "chrf": 50.0, "comet": 81.0}),
        ("teacher-2", {"spbleu": 82.0, "chrf": 50.0, "comet": 82.0}),
    ]
    assert {one.spbleu for one in found.values()} == {pieces}
