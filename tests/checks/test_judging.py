"""From numbers of models to verdicts, and the list of gates."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest

from tests.checks import numbers
from tests.stages.configs import FULL, graph
from translations_assets.checks import markup, models, offensive
from translations_assets.checks.gates import GATES, Gate, examine
from translations_assets.checks.verdict import NotComputed, NothingToJudge, percent
from translations_assets.common.errors import FailedStep, StepFailed, TranslationsError
from translations_assets.config import gates
from translations_assets.config.load import parse_config
from translations_assets.records.run import RunOptions
from translations_assets.results.scores import Comparison, Scores
from translations_assets.results.training import Training
from translations_assets.running.session import UpstreamMissing


def of(document: Any, stage: str = "check_merge_corpus") -> Any:
    """A gate's input from a stage with one step."""
    return {stage: {"label": document}}


def scores(**models: dict[str, float]) -> Any:
    """Evaluations: stage → test set → chrF."""
    return {
        stage: {f"{stage} {dataset}": evaluation(dataset, chrf) for dataset, chrf in of_model.items()}
        for stage, of_model in models.items()
    }


def evaluation(dataset: str, chrf: float, **more: Any) -> Scores:
    return Scores.from_dict({**numbers.evaluation(dataset, chrf), **more})


def differences(dataset: str, **others: tuple[float, float]) -> Comparison:
    return Comparison.from_dict(numbers.differences(dataset, **others))


def training(*chrf: float) -> Training:
    return Training.from_dict(numbers.training(*chrf))


def trainings(*teachers: float | None, backwards: float = 50.0) -> Any:
    return {
        "train_teacher": {
            f"train-teacher-{n}": training() if chrf is None else training(chrf)
            for n, chrf in enumerate(teachers, start=1)
        },
        "train_backwards": {"train-backwards": training(backwards)},
    }


def test_the_worst_teacher_counts() -> None:
    margin = gates.TeacherMargin.model_validate({"margin": 2.0})
    assert models.teacher_margin(trainings(52.0, 60.0), margin).passed
    verdict = models.teacher_margin(trainings(51.9, 60.0), margin)
    assert not verdict.passed
    assert "chrF 51.9 of teacher-1 on the validation set, 50.0 of backwards" in verdict.description
    assert "+1.9, at least +2.0 is asked for" in verdict.description
    assert verdict.numbers == {
        "chrF, teacher-1": 51.9,
        "chrF, teacher-2": 60.0,
        "chrF, backwards": 50.0,
    }


def test_by_default_a_broken_teacher_fails_and_a_harder_direction_does_not() -> None:
    assert models.teacher_margin(trainings(46.0), gates.TeacherMargin()).passed
    assert not models.teacher_margin(trainings(20.0), gates.TeacherMargin()).passed
    assert gates.TeacherMargin().level == "error"


def test_a_teacher_that_was_never_validated_is_not_judged() -> None:
    with pytest.raises(NotComputed, match="train-teacher-1 was never validated"):
        models.teacher_margin(trainings(None), gates.TeacherMargin())


def test_the_student_against_the_best_that_the_teachers_do() -> None:
    both = scores(
        evaluate_student={"demo_a": 50.0, "demo_b": 40.0},
        evaluate_teacher={"demo_a": 52.0, "demo_b": 46.0},
        evaluate_teacher_ensemble={},
    )
    verdict = models.student_gap(both, gates.StudentGap())
    assert not verdict.passed
    assert verdict.description.startswith("chrF 40.0 on demo_b, where teacher-1 has 46.0: -6.0")
    assert models.student_gap(both, gates.StudentGap.model_validate({"max-gap": 6.0})).passed
    ensemble = {**both, **scores(evaluate_teacher_ensemble={"demo_a": 60.0, "demo_b": 45.0})}
    assert "50.0 on demo_a" in models.student_gap(ensemble, gates.StudentGap()).description
    second = {"second, demo_b": evaluation("demo_b", 41.0)}
    two = {**both, "evaluate_teacher": both["evaluate_teacher"] | second}
    verdict = models.student_gap(two, gates.StudentGap())
    assert "where the best teacher has 46.0: -6.0" in verdict.description
    assert verdict.numbers["chrF, the best teacher, demo_b"] == 46.0


def test_a_gap_comes_with_the_probability_that_chance_made_it() -> None:
    """That of the teacher which the student is judged by, the best one on the test set."""
    both = scores(
        evaluate_student={"demo_a": 50.0}, evaluate_teacher={"demo_a": 51.5}, evaluate_teacher_ensemble={}
    )
    compared = differences("demo_a", first=(48.0, 0.001), second=(51.5, 0.042))
    verdict = models.student_gap(
        {**both, "check_evaluate_student": {"check-student-a": compared}}, gates.StudentGap()
    )
    assert "51.5: -1.5 (p = 0.042)" in verdict.description
    assert verdict.numbers["p, demo_a"] == 0.042


def test_a_student_without_a_teacher_is_not_judged_by_one() -> None:
    """Its text, or what it is judged by, is of another run."""
    alone = scores(evaluate_student={"demo_a": 50.0}, evaluate_teacher={}, evaluate_teacher_ensemble={})
    with pytest.raises(NothingToJudge, match="the training config has no teacher"):
        models.student_gap(alone, gates.StudentGap())


@pytest.mark.parametrize("fetched", ["train_teacher", "train_backwards"])
def test_a_fetched_model_was_not_validated_here(fetched: str) -> None:
    trained = {"train-x": training(1.0)}
    documents = {"train_teacher": trained, "train_backwards": trained, fetched: {}}
    with pytest.raises(NothingToJudge, match="not both trained here"):
        models.teacher_margin(documents, gates.TeacherMargin())


def test_the_quantised_student_against_the_finetuned() -> None:
    small = {"demo_a": 47.5}
    same = scores(evaluate_quantized=small, evaluate_finetuned_student={"demo_a": 48.0})
    worse = scores(evaluate_quantized=small, evaluate_finetuned_student={"demo_a": 58.0})
    better = scores(evaluate_quantized=small, evaluate_finetuned_student={"demo_a": 30.0})
    assert models.quantized_gap(same, gates.QuantizedGap()).passed
    assert not models.quantized_gap(worse, gates.QuantizedGap()).passed
    verdict = models.quantized_gap(better, gates.QuantizedGap())
    assert not verdict.passed
    assert verdict.description == (
        "chrF 47.5 on demo_a, where finetuned-student has 30.0: +17.5, -3.0 to +3.0 is allowed"
    )
    assert models.quantized_gap(better, gates.QuantizedGap.model_validate({"max-gain": 20})).passed


def test_the_exported_student_against_the_finetuned() -> None:
    documents = scores(evaluate_exported={"demo_a": 47.5}, evaluate_finetuned_student={"demo_a": 48.0})
    assert models.exported_gap(documents, gates.ExportedGap()).passed
    assert not models.exported_gap(documents, gates.ExportedLoss()).passed
    documents = scores(evaluate_exported={"demo_a": 47.5}, evaluate_finetuned_student={"demo_a": 48.6})
    verdict = models.exported_gap(documents, gates.ExportedGap())
    assert not verdict.passed
    assert "chrF 47.5 on demo_a, where finetuned-student has 48.6: -1.1" in verdict.description


def final(**models: float) -> Any:
    """A final evaluation: model → chrF on one test set."""
    steps = {name: evaluation("demo_a", chrf, model=name) for name, chrf in models.items()}
    steps["paragraphs"] = evaluation("demo_a (paragraphs)", 10.0)
    others = {name: (chrf, 0.03 if name == "released" else 0.5) for name, chrf in models.items()}
    compared = differences("demo_a", **others)
    return {
        "final_evaluation": steps,
        "check_final_evaluation": {"check-final-a": compared} if others else {},
    }


def test_exported_against_released() -> None:
    thresholds = gates.ReleasedGap()
    assert models.released_gap(final(exported=47.6, released=48.0, other=60.0), thresholds).passed
    verdict = models.released_gap(final(exported=47.4, released=48.0, other=30.0), thresholds)
    assert not verdict.passed
    assert verdict.description == (
        "chrF 47.4 on demo_a, where released has 48.0: -0.6 (p = 0.030), at most -0.5 is allowed"
    )
    with pytest.raises(NothingToJudge, match="compares with no released model"):
        models.released_gap(final(exported=47.4, other=60.0), thresholds)
    with pytest.raises(NothingToJudge, match="compares with no released model"):
        models.released_gap(final(), thresholds)


def test_one_test_set_far_better_and_one_far_worse() -> None:
    """The loss is told, which is the likelier harm."""
    both = scores(
        evaluate_quantized={"demo_a": 60.0, "demo_b": 30.0},
        evaluate_finetuned_student={"demo_a": 50.0, "demo_b": 40.0},
    )
    assert "30.0 on demo_b" in models.quantized_gap(both, gates.QuantizedGap()).description


def test_a_student_may_be_better_than_its_teacher() -> None:
    better = scores(
        evaluate_student={"demo_a": 60.0}, evaluate_teacher={"demo_a": 40.0}, evaluate_teacher_ensemble={}
    )
    assert models.student_gap(better, gates.StudentGap()).passed


def test_variants_of_test_sets_and_paragraphs_do_not_count() -> None:
    """Upper case is harder, for a small model most of all; engines find sentences in their own way."""
    upper, paragraphs = f"demo_aug-upper_a{models.VARIANT}", "demo_a (paragraphs)"
    models_ = scores(
        evaluate_quantized={"demo_a": 50.0, upper: 4.0, paragraphs: 4.0},
        evaluate_finetuned_student={"demo_a": 50.0, upper: 30.0, paragraphs: 30.0},
    )
    assert models.quantized_gap(models_, gates.QuantizedGap()).passed


def test_without_test_sets_nothing_is_judged() -> None:
    with pytest.raises(NothingToJudge, match="no test set"):
        models.quantized_gap(
            scores(evaluate_quantized={}, evaluate_finetuned_student={}), gates.QuantizedGap()
        )


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ({"loads": False, "error": "no model"}, "the exported files do not load: no model"),
        ({"empty": 1}, "1 come out empty"),
        ({"copied": 2}, "2 as copies"),
    ],
)
def test_exports(bad: dict[str, Any], told: str) -> None:
    assert models.export(of(numbers.exported()), gates.ExportGate()).passed
    verdict = models.export(of(numbers.exported(**bad)), gates.ExportGate())
    assert not verdict.passed
    assert told in verdict.description


@pytest.mark.parametrize(
    ("kept", "right", "passed"), [(252, 352, True), (251, 440, False), (280, 351, False)]
)
def test_html(kept: int, right: int, passed: bool) -> None:
    """At the thresholds, and one below."""
    numbers_of_both = {
        "check_export": {"load": numbers.exported(), "html": numbers.markup(kept=kept, right=right)}
    }
    verdict = markup.markup(numbers_of_both, gates.Markup())
    assert verdict.passed == passed
    assert f"{percent(right / 440)} of 440 tags stand round the right words" in verdict.description
    assert f"the fewest of the kind word: {percent((right - 220) / 220)}" in verdict.description
    assert verdict.numbers["tags kept"] == kept / 280
    assert models.export(numbers_of_both, gates.ExportGate()).passed


def test_html_that_tells_nothing() -> None:
    with pytest.raises(NothingToJudge, match="no priors"):
        markup.markup(of(numbers.exported()), gates.Markup())
    every = {**numbers.markup()["all"], "countable": 49}
    with pytest.raises(NothingToJudge, match="49 tags .* 50 are asked for"):
        markup.markup(of(numbers.markup(all=every)), gates.Markup())
    assert markup.markup(of(numbers.markup(all=every)), gates.Markup.model_validate({"min-tags": 49})).passed
    nothing = {kind: {**one, "countable": 0} for kind, one in numbers.markup()["kinds"].items()}
    with pytest.raises(NothingToJudge, match="0 tags .* 1 are asked for"):
        markup.markup(
            of(numbers.markup(all={**every, "countable": 0}, kinds=nothing)),
            gates.Markup.model_validate({"min-tags": 0}),
        )


@pytest.mark.parametrize(("added", "passed"), [(0, True), (2, True), (3, False)])
def test_offensive_words(added: int, passed: bool) -> None:
    document = {"check_export": {"load": numbers.exported(), "words": numbers.offensive(added)}}
    lists = {"trg-list": "https://example.com/ru.txt", "src-list": "https://example.com/en.txt"}
    verdict = offensive.offensive_words(document, gates.OffensiveWords.model_validate(lists))
    assert verdict.passed == passed
    assert verdict.description == (
        f"{added} of 2,000 translations ({percent(added / 2000)}) hold an offensive word and their source "
        "none; of 3 more the source holds one, too"
    )
    assert verdict.numbers == {"offensive translations": added / 2000}
    assert len(verdict.samples) == bool(added)
    alone = offensive.offensive_words(document, gates.OffensiveWords())
    assert alone.description.endswith("hold an offensive word")
    with pytest.raises(NothingToJudge, match="names no list of offensive words"):
        offensive.offensive_words(of(numbers.exported()), gates.OffensiveWords())


def test_percentages() -> None:
    assert [percent(share) for share in (0.0, 0.00012, 0.5, 1.0)] == ["0 %", "0.012 %", "50 %", "100 %"]


def test_each_gate_has_its_section_and_the_other_way_round() -> None:
    alone = gates.Checks.model_fields.keys() ^ {gate.identifier for gate in GATES}
    assert not alone, f"{alone}: a gate has a section in config/gates.py and a line in GATES, checks/gates.py"
    assert all(gate.description.endswith(".") for gate in GATES)
    assert len({(gate.stage, gate.name) for gate in GATES}) == len(GATES)


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: f"{gate.stage} {gate.name}")
def test_a_gate_judges_by_the_thresholds_of_its_section(gate: Gate) -> None:
    judge = gate.judge.func if isinstance(gate.judge, partial) else gate.judge
    expected = get_type_hints(judge)["thresholds"]
    section = gates.Checks.model_fields[gate.identifier].annotation
    assert isinstance(section, type)
    assert issubclass(section, expected)


def test_gates_of_what_costs_most_to_build_upon_stop_a_run() -> None:
    trained = ("train_backwards", "train_teacher", "train_student", "finetune_student")
    translated = ("train_teacher", "translate_mono_trg", "translate_corpus", "translate_mono_src", "cefilter")
    checks = gates.Checks()
    strict = {(gate.stage, gate.name) for gate in GATES if getattr(checks, gate.identifier).level == "error"}
    assert strict >= {
        *((stage, "training-collapse") for stage in trained),
        *((stage, "translation-collapse") for stage in translated),
        *(("train_teacher", name) for name in ("teacher-floor", "teacher-margin")),
    }


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (StepFailed([FailedStep("a", "out of memory")]), "failed"),
        (StepFailed([FailedStep("a", "out of memory", unpaid=True)]), "not computed"),
        (UpstreamMissing("out of memory"), "not computed"),
    ],
)
def test_only_gates_that_read_what_has_no_result_are_not_judged(error: TranslationsError, state: str) -> None:
    fetched = SimpleNamespace(outputs={})
    session: Any = SimpleNamespace(
        config=parse_config(FULL, "config.yml"),
        graph=graph(FULL),
        options=RunOptions(),
        results=SimpleNamespace(need=lambda steps: None, result_of=lambda step: fetched),
        store=None,
    )
    errors = {"check_train_teacher": error}
    found = {gate.name: examine(session, gate, errors) for gate in GATES if gate.stage == "train_teacher"}
    assert (found["teacher-floor"].state, found["teacher-floor"].description) == (state, "out of memory")
    assert found["teacher-floor"].unpaid == (isinstance(error, StepFailed) and error.unpaid)
    other = found["training-collapse"]
    assert (other.state, other.description) == (
        "nothing to judge",
        "nothing to judge: the training config trains no such model",
    )
