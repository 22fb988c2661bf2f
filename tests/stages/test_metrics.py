"""Metrics that need a model, and paragraphs, in the graph where the config names them."""

from __future__ import annotations

import pytest

from tests.stages.configs import FULL, METRICS, files, graph, labels
from translations_assets.graph.step import Step
from translations_assets.stages import STAGES

EVALUATIONS = [name for name in STAGES if name.startswith("evaluate_")]


def evaluations(text: str, script: str) -> list[Step]:
    stages = graph(text).stages
    return [step for name in EVALUATIONS for step in stages[name] if step.script == f"pipeline.eval.{script}"]


def test_without_them_nothing_is_fetched_and_no_evaluation_differs() -> None:
    """So that turning them on decodes nothing again."""
    plain, scored = graph(FULL), graph(METRICS)
    assert plain.stages["evaluation_inputs"] == ()
    for script in ("evaluate", "exported"):
        for before, after in zip(evaluations(FULL, script), evaluations(METRICS, script), strict=True):
            assert (before.label, before.args) == (after.label, after.args)
            assert before.inputs.keys() == after.inputs.keys()
    added = {step.script for step in scored.steps} - {step.script for step in plain.steps}
    metrics = {"pipeline.eval.fetch_model", "pipeline.eval.spbleu", "pipeline.eval.comet"}
    assert added == metrics | {"pipeline.data.documents", "pipeline.eval.paragraphs"}


def test_only_their_models_and_documents_come_from_the_network() -> None:
    steps = graph(METRICS).stages["evaluation_inputs"]
    documents = ["documents-flores_devtest-en-ru", "documents-ntrex_test-en-ru"]
    assert labels(steps) == ["fetch-spbleu", "fetch-comet", "fetch-comet-vocab", *documents]
    assert (steps[3].args["src_code"], steps[4].args["trg_code"]) == ("eng_Latn", "rus")
    steps = steps[:3]
    assert [step.outputs for step in steps] == [("flores200.spm",), ("model.bin",), ("vocab.spm",)]
    assert steps[1].secrets == ("HF_TOKEN",)
    assert all(len(str(step.args["sha256"])) == 64 for step in steps)


def test_documents_of_sets_of_the_hub_come_from_there() -> None:
    text = METRICS.replace("ntrex_test", "bouquet_test")
    flores, bouquet = graph(text).stages["evaluation_inputs"][3:]
    assert (flores.script, flores.secrets) == ("pipeline.data.documents", ())
    assert (bouquet.script, bouquet.secrets) == ("pipeline.data.hub_documents", ("HF_TOKEN",))
    assert (bouquet.args["provider"], bouquet.args["trg_code"]) == ("bouquet", "rus_Cyrl")


@pytest.mark.parametrize("script", ["spbleu", "comet"])
def test_every_evaluation_is_scored_by_them(script: str) -> None:
    decoded = [*evaluations(METRICS, "evaluate"), *evaluations(METRICS, "exported")]
    scored = evaluations(METRICS, script)
    named = [step.label.removeprefix("evaluate-") for step in decoded]
    assert sorted(labels(scored)) == sorted(f"{script}-{name}" for name in named)
    backwards = next(step for step in scored if "backwards-flores_devtest" in step.label)
    assert files(backwards, "corpus_trg") == ["dataset-test-flores_devtest-en-ru:corpus.en.zst"]
    assert files(backwards, "translations") == ["evaluate-backwards-flores_devtest-en-ru:translations.zst"]


def test_models_are_compared_by_them_too() -> None:
    (compared, *_) = graph(METRICS).stages["check_evaluate_exported"]
    assert compared.args["comet"] == "wmt22-comet-da"
    assert files(compared, "spbleu_model") == ["fetch-spbleu:flores200.spm"]
    models = ("exported", "finetuned-student")
    segments = [f"comet-{model}-flores_devtest-en-ru:segments.zst" for model in models]
    assert files(compared, "comet_segments") == segments
    final, *_ = graph(f"{METRICS}final-evaluation: {{}}\n").stages["check_final_evaluation"]
    segments[1] = "comet-released-flores_devtest-en-ru:segments.zst"
    assert files(final, "comet_segments") == segments
    (plain, *_) = graph(FULL).stages["check_evaluate_exported"]
    assert not {"spbleu_model", "comet_segments"} & plain.inputs.keys()
    assert "comet" not in plain.args


def test_marians_sentences_are_joined_and_the_engine_gets_whole_paragraphs() -> None:
    found = evaluations(METRICS, "paragraphs")
    assert len(found) == 2 * len(evaluations(METRICS, "evaluate") + evaluations(METRICS, "exported")) / 3
    by_label = {step.label: step for step in found}
    student = by_label["paragraphs-student-flores_devtest-en-ru"]
    assert files(student, "translations") == ["evaluate-student-flores_devtest-en-ru:translations.zst"]
    assert files(student, "documents") == ["documents-flores_devtest-en-ru:documents.zst"]
    assert student.args == {"trg": "ru", "dataset": "flores_devtest (paragraphs)"}
    exported = by_label["paragraphs-exported-flores_devtest-en-ru"]
    assert "export-en-ru:model.enru.intgemm.alphas.bin" in files(exported, "exported")
    assert by_label["paragraphs-backwards-ntrex_test-en-ru"].args["trg"] == "en"
