"""Verdicts on models and translations that are broken in the ways in which they break."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.checks import numbers
from translations_assets.checks import models, text
from translations_assets.checks.gates import GATES
from translations_assets.checks.verdict import NotComputed, NothingToJudge
from translations_assets.config import gates
from translations_assets.results.training import Training


def trained(metrics: Any) -> Any:
    return teachers(**{"train-x": metrics})


def teachers(**metrics: Any) -> Any:
    return {"train_teacher": {label: Training.from_dict(found) for label, found in metrics.items()}}


def translated(found: Any, corpus: Any = None, stage: str = "check_translate_corpus") -> Any:
    return {stage: {"check": found}, "check_merge_corpus": {"check-corpus": corpus} if corpus else {}}


def curve(**changed: Any) -> gates.TrainingCurve:
    return gates.TrainingCurve.model_validate(
        {name.replace("_", "-"): value for name, value in changed.items()}
    )


def test_a_training_that_goes_well() -> None:
    good = trained(numbers.training(20.0, 40.0, 48.0, 47.5, entropy=[3.0, 2.0, 1.8, 1.9]))
    collapse = models.collapse(good, gates.TrainingCollapse())
    assert collapse.passed
    assert collapse.description == "chrF 48.0 at the best validation, and the last one is close to it"
    assert collapse.numbers == {"best chrF, train-x": 48.0}
    found = models.curve(good, curve())
    assert found.passed
    assert found.numbers == {"chrF gap, train-x": 0, "cross-entropy gap, train-x": 0, "epochs, train-x": 2.0}


@pytest.mark.parametrize(
    ("chrf", "entropy", "told"),
    [
        ([0.3, 1.2, 0.8], [], "train-x never learned to translate: its best chrF is 1.2, at update 200"),
        ([0.0], [], "never learned to translate"),
        (
            [30.0, 45.0, 9.0, 8.0],
            [],
            "collapsed: its chrF fell from 45.0 at update 200 to 8.0 at the last, 400",
        ),
        (
            [30.0, 45.0, 44.0],
            [3.0, 2.0, 6.5],
            "diverged: its cross-entropy rose from 2.00 at update 200 to 6.50",
        ),
        ([30.0, 45.0], [3.0, math.nan], "train-x diverged: not a number at update 200"),
        ([math.nan], [], "diverged: not a number at update 100"),
    ],
)
def test_trainings_that_collapsed_or_diverged(chrf: list[float], entropy: list[float], told: str) -> None:
    verdict = models.collapse(trained(numbers.training(*chrf, entropy=entropy)), gates.TrainingCollapse())
    assert not verdict.passed
    assert told in verdict.description


def test_a_cost_that_is_not_a_number() -> None:
    broken = numbers.training(45.0)
    broken["curve"][0]["cost"] = math.inf
    verdict = models.collapse(trained(broken), gates.TrainingCollapse())
    assert (verdict.passed, verdict.numbers) == (False, {})


def test_a_dip_that_is_made_up_for_is_none() -> None:
    dip = trained(numbers.training(40.0, 5.0, 42.0, entropy=[2.0, 7.0, 1.9]))
    assert models.collapse(dip, gates.TrainingCollapse()).passed


def test_thresholds_of_collapse() -> None:
    low = trained(numbers.training(12.0))
    assert not models.collapse(low, gates.TrainingCollapse()).passed
    assert models.collapse(low, gates.TrainingCollapse.model_validate({"min-chrf": 10})).passed


def test_each_teacher_counts() -> None:
    both = teachers(one=numbers.training(50.0), two=numbers.training(2.0))
    verdict = models.collapse(both, gates.TrainingCollapse())
    assert not verdict.passed
    assert verdict.description.startswith("two never learned")


def test_chrf_falls_while_cross_entropy_improves() -> None:
    bad = trained(numbers.training(45.0, 40.0, 25.0, entropy=[2.5, 2.3, 2.2]))
    verdict = models.curve(bad, curve())
    assert not verdict.passed
    assert "chrF is 20.0 below its best where cross-entropy is best (update 300)" in verdict.description
    assert models.curve(bad, curve(max_chrf_gap=20)).passed


def test_a_curve_that_fails_names_the_threshold_and_the_training_first() -> None:
    good = numbers.training(42.0, 44.0, 45.0, entropy=[2.5, 2.3, 2.2])
    bad = numbers.training(45.0, 40.0, 25.0, entropy=[2.5, 2.3, 2.2])
    short = numbers.training(45.0, pairs={"original": {"kept": 9000}, "dev": {"kept": 100}})
    verdict = models.curve(teachers(one=good, two=bad, three=short), curve())
    two, three, one = verdict.description.split("; one: ")[0], "three: min-epochs 1 is not kept", "one: chrF"
    assert two.startswith("two: ")
    assert three in two
    assert f"; {one}" in verdict.description
    wide = models.curve(trained(bad), curve(max_chrf_gap=20, max_entropy_gap=0.1))
    assert wide.description.partition(": ")[2].startswith("max-entropy-gap 0.1 is not kept, chrF is ")
    both = models.curve(trained(numbers.training(45.0, 20.0, entropy=[2.9, 2.0])), curve())
    assert "max-chrf-gap 10 is not kept, max-entropy-gap 0.5 is not kept, chrF is 25.0" in both.description


def test_the_best_model_by_chrf_has_a_bad_cross_entropy() -> None:
    bad = trained(numbers.training(42.0, 43.0, 45.0, entropy=[2.0, 2.4, 2.8]))
    verdict = models.curve(bad, curve())
    assert not verdict.passed
    assert "cross-entropy 0.80 above its best where chrF is best (update 300)" in verdict.description


def test_less_than_an_epoch_but_not_when_finetuning() -> None:
    short = trained(numbers.training(45.0, pairs={"original": {"kept": 9000}, "dev": {"kept": 100}}))
    verdict = models.curve(short, curve())
    assert not verdict.passed
    assert "0.22 epochs seen" in verdict.description
    assert models.curve(short, curve(min_epochs=0.2)).passed
    assert models.curve(short, curve(), epochs=False).passed
    assert "epochs" not in models.curve(short, curve(), epochs=False).description


def test_marian_counts_sentences_anew_when_it_starts_again() -> None:
    """32 sentences an update, however often it was stopped."""
    metrics = numbers.training(45.0)
    points = [(10, 320), (20, 640), (30, 320), (40, 640), (50, 32)]
    metrics["curve"][:1] = [
        {"kind": "train", "update": update, "sentences": sentences, "cost": 3.0}
        for update, sentences in points
    ]
    verdict = models.curve(trained(metrics), curve())
    assert verdict.numbers["epochs, train-x"] == pytest.approx(100 * 32 / 1000)


def test_a_curve_without_counts_tells_no_epochs() -> None:
    metrics = numbers.training(45.0)
    del metrics["curve"][0]
    verdict = models.curve(trained(metrics), curve())
    assert (verdict.passed, "epochs" in verdict.description) == (True, False)


@pytest.mark.parametrize("judge", [models.collapse, models.curve])
def test_what_was_not_trained_or_not_validated_here(judge: Any) -> None:
    section = gates.TrainingCollapse() if judge is models.collapse else curve()
    with pytest.raises(NothingToJudge, match="trains no such model"):
        judge({"train_backwards": {}}, section)
    with pytest.raises(NotComputed, match="train-x was never validated"):
        judge(trained(numbers.training()), section)


@pytest.mark.parametrize(
    ("chrf", "chance", "passed"),
    [(60.0, 20.0, True), (0.3, 0.2, False), (21.0, 19.0, False), (26.0, 4.0, True), (19.0, 2.0, False)],
)
def test_the_floor_of_teachers(chrf: float, chance: float, passed: bool) -> None:
    """A model that writes well and ignores its source is over 20 in English, and no better than chance."""
    found = {"check_train_teacher": {"check": numbers.teacher(chrf, chance)}}
    verdict = models.teacher_floor(found, gates.TeacherFloor())
    assert verdict.passed == passed
    assert verdict.numbers == {"chrF": chrf, "chrF by chance": chance, "BLEU": chrf / 2}
    assert verdict.samples == ["A dog. ||| Hundo. ||| Hundo!"]


def test_without_teachers_there_is_no_floor() -> None:
    with pytest.raises(NothingToJudge, match="no teacher"):
        models.teacher_floor({"check_train_teacher": {}}, gates.TeacherFloor())
    with pytest.raises(NothingToJudge, match="no such text"):
        text.collapse({"check_train_teacher": {}, "check_merge_corpus": {}}, gates.TranslationCollapse())


def test_translations_that_are_the_same_or_loop() -> None:
    section = gates.TranslationCollapse()
    assert text.collapse(translated(numbers.text()), section).passed
    same = text.collapse(translated(numbers.text(distinct=[65778, 6891])), section)
    assert not same.passed
    assert same.description.startswith("6,891 different translations of 65,778 lines; 0 % repeat themselves")
    looping = numbers.text(loops=[numbers.loops(), numbers.loops(0.2)])
    verdict = text.collapse(translated(looping), section)
    assert (verdict.passed, verdict.samples) == (False, ["and and"])
    assert text.collapse(translated(looping), section, made=0).passed  # the genuine side


def test_only_the_translated_side_may_loop() -> None:
    """In the gates as they stand for each stage; back-translations are the first side."""
    section = gates.TranslationCollapse()
    for side in (0, 1):
        loops = [numbers.loops(0.2 if number == side else 0.0) for number in (0, 1)]
        for gate in GATES:
            if gate.name == "translation-collapse":
                found = translated(numbers.text(loops=loops), stage=gate.reads[0])
                translation = 0 if gate.stage == "translate_mono_trg" else 1
                assert gate.judge(found, section).passed == (side != translation), gate


def test_lengths_are_compared_with_genuine_ones() -> None:
    section = gates.TranslationCollapse()
    corpus = numbers.text(length_ratio={"overall": 0.4})
    for ratio, passed in ((0.4, True), (0.55, True), (1.0, False), (0.2, False), (0.0, False)):
        found = numbers.text(length_ratio={"overall": ratio})
        assert text.collapse(translated(found, corpus), section).passed == passed
        assert text.collapse(translated(found), section).passed  # without a corpus
    long = translated(numbers.text(length_ratio={"overall": 0.2}), corpus)
    assert "2.00 times as long" in text.collapse(long, section, made=0).description


def test_a_dev_sets_translations_are_compared_with_its_references() -> None:
    found = numbers.teacher(expected_ratio=0.5)
    corpus = numbers.text(length_ratio={"overall": 1.0})
    judged = translated(found, corpus, "check_train_teacher")
    assert "2.00 times as long" in text.collapse(judged, gates.TranslationCollapse()).description
