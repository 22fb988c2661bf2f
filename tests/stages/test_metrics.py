"""Metrics that need a model, and paragraphs, in the graph where the config names them."""

from __future__ import annotations

import pytest

from pipeline.eval.metrics import bleu_tokenizer
from tests.stages.configs import FULL, METRICS, SMALL, files, graph, labels
from translations_assets.common.errors import GraphError
from translations_assets.config.load import read_values
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import build_graph
from translations_assets.graph.step import LocalFile, RepoFile, Step
from translations_assets.stages import STAGES

EVALUATIONS = [name for name in STAGES if name.startswith("evaluate_") or name == "final_evaluation"]

EVAL = "pipeline.eval"
COUNT_WORDS = {
    *(f"{EVAL}.evaluate", f"{EVAL}.exported", f"{EVAL}.final", f"{EVAL}.paragraphs"),
    *("pipeline.checks.differences", "pipeline.checks.models"),
}


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


def test_documents_of_own_files_are_in_a_third_file() -> None:
    named, listed = "paragraphs: [flores_devtest, ntrex_test]", "    - ntrex_test\n"
    text = METRICS.replace(named, "paragraphs: [file_x]").replace(listed, "    - /data/x.[LANG].gz\n")
    assert len(graph(text).stages["evaluation_inputs"]) == 3  # models: nothing is fetched for documents
    steps = evaluations(text, "paragraphs")
    assert {step.inputs["documents"] for step in steps} == {LocalFile("/data/x.documents.gz", "documents.gz")}


METRICX = "evaluation: {metricx: [reference, qe]}\n"


def test_metricx_is_fetched_and_converted_once_for_all_evaluations() -> None:
    found = graph(f"{FULL}{METRICX}final-evaluation: {{released: true}}\n")
    fetched, pieces, converted = found.stages["evaluation_inputs"]
    assert (fetched.script, fetched.args) == (
        "pipeline.translate.fetch_hugging_face",
        {
            "model": "google/metricx-24-hybrid-large-v2p6-bfloat16",
            "revision": "febb720e29a059df2e8af3ffd71dcdc9e0a24910",
            "files": None,
        },
    )
    assert pieces.args["model"] == "google/mt5-xl"
    assert pieces.args["files"] == ("spiece.model",)
    assert files(converted, "pieces") == [f"{pieces.label}:model.tar"]
    assert converted.script == "pipeline.translate.convert_metricx"
    steps = {step.label: step for step in found.steps if step.script == "pipeline.eval.metricx"}
    evaluated = [step for step in found.steps if step.label.startswith("evaluate-student-")]
    assert evaluated
    for form in ("reference", "qe"):
        for step in evaluated:
            scored = steps[step.label.replace("evaluate-", f"metricx-{form}-")]
            assert scored.args["form"] == form
            assert scored.args["name"] == "google/metricx-24-hybrid-large-v2p6-bfloat16@febb720"
            assert files(scored, "translations") == [f"{step.label}:translations.zst"]
            assert "convert-metricx-evaluation-en-ru:model.bin" in files(scored, "model")
            assert (scored.worker, scored.repeatable) == ("gpu", False)
    released = steps["metricx-qe-released-flores_devtest-en-ru"]
    assert [name for name in released.outputs if name.endswith("__metricx24-qe.metrics.json")]


def test_metricx_selects_and_filters_where_the_config_says_so() -> None:
    chosen = "  selection: {corpus: qe, mono: qe}\n  filter: qe\n  teacher-ensemble: 2\n"
    found = graph(FULL.replace("  teacher-ensemble: 2\n", chosen))
    for name in ("corpus", "mono-src"):
        best = found.step(f"best-by-qe-{name}-en-ru-2/3")
        assert files(best, "text") == [f"split-{name}-en-ru:part.2.zst"]
        assert files(best, "nbest") == [f"translate-{name}-en-ru-2/3:nbest.zst"]
        assert f"convert-metricx-{name}-en-ru:model.bin" in files(best, "model")
        assert (best.worker, best.resumable) == ("gpu", True)
    assert "references" not in {
        name for name, given in found.step("split-corpus-en-ru").inputs.items() if given
    }
    score = found.step("score-en-ru-3/3")
    assert score.script == "pipeline.translate.score_qe"
    assert files(score, "corpus_src") == ["split-score-en-ru:part.3.zst"]
    assert files(score, "corpus_trg") == ["split-score-en-ru:part.3.ref.zst"]
    assert files(found.step("split-score-en-ru"), "text") == ["merge-translated-en-ru:corpus.en.zst"]
    assert files(found.step("cefilter-en-ru"), "scores") == ["collect-score-en-ru:scores.zst"]


def test_the_filter_of_metricx_needs_no_backwards_model() -> None:
    text = SMALL.replace("  name: small\n", "  name: small\n  filter: qe\n")
    stages = graph(text).stages
    assert not stages["train_backwards"]
    assert stages["score"][-1].label.startswith("collect-score-")


@pytest.mark.parametrize("script", ["spbleu", "comet"])
def test_every_evaluation_is_scored_by_them(script: str) -> None:
    decoded = [*evaluations(METRICS, "evaluate"), *evaluations(METRICS, "exported")]
    scored = evaluations(METRICS, script)
    named = [step.label.removeprefix("evaluate-") for step in decoded]
    assert sorted(labels(scored)) == sorted(f"{script}-{name}" for name in named)
    backwards = next(step for step in scored if "backwards-flores_devtest" in step.label)
    assert files(backwards, "corpus_trg") == ["dataset-test-flores_devtest-en-ru:corpus.en.zst"]
    assert files(backwards, "translations") == ["evaluate-backwards-flores_devtest-en-ru:translations.zst"]


def test_unaligned_words_are_counted_in_translations_of_the_sets_that_are_named() -> None:
    """Of the models from source to target, by the priors of the corpus that teachers are trained on."""
    text = f"{FULL}evaluation: {{unaligned: [ntrex_test]}}\nfinal-evaluation: {{}}\n"
    plain, scored = graph(f"{FULL}final-evaluation: {{}}\n"), graph(text)
    added = [step for step in scored.steps if step.label not in plain.by_label]
    models = ("teacher-1", "teacher-2", "teacher-ensemble", "student", "finetuned-student", "quantized")
    named = {f"unaligned-{model}-ntrex_test-en-ru" for model in (*models, "exported", "released")}
    assert {*labels(added)} == named
    student = scored.step("unaligned-student-ntrex_test-en-ru")
    assert student.args == {"src": "en", "trg": "ru", "dataset": "ntrex_test"}
    assert files(student, "priors") == ["alignments-priors-en-ru:corpus.priors"]
    assert files(student, "translations") == ["evaluate-student-ntrex_test-en-ru:translations.zst"]
    assert files(student, "corpus_src") == ["dataset-test-ntrex_test-en-ru:corpus.en.zst"]
    assert files(student, "corpus_trg") == ["dataset-test-ntrex_test-en-ru:corpus.ru.zst"]
    assert not scored.changed_stages(plain) - {
        *(name for name in STAGES if name.startswith("evaluate_")),
        "final_evaluation",
    }


def test_without_them_no_evaluation_needs_alignments_that_its_model_does_not() -> None:
    """Stages that were left out before are left out still."""
    assert "alignments_original" not in graph(FULL).stage_closure(["evaluate_backwards"])
    for name in (*EVALUATIONS, "final_evaluation"):
        if name != "evaluate_backwards":
            models = [
                up for up in STAGES[name].upstream if up.startswith(("train", "quant", "fine", "export"))
            ]
            reached = models or ["evaluate_exported"]
            assert "alignments_original" in graph(FULL).stage_closure(reached), name


TRANSLATORS = """
translators:
  llm: {endpoint: {model: big, service: LOCAL, lines: 5, candidates: 4, options: {seed: 1}}}
"""
JUDGED = f"{FULL}{TRANSLATORS}evaluation: {{judge: llm}}\n"


def test_every_evaluation_is_judged_and_none_differs() -> None:
    decoded = [*evaluations(JUDGED, "evaluate"), *evaluations(JUDGED, "exported")]
    judged = evaluations(JUDGED, "judge")
    named = [step.label.removeprefix("evaluate-") for step in decoded]
    assert sorted(labels(judged)) == sorted(f"judge-{name}" for name in named)
    plain, scored = graph(FULL), graph(JUDGED)
    assert {step.script for step in scored.steps} - {step.script for step in plain.steps} == {
        "pipeline.eval.judge"
    }
    others = [step for step in scored.steps if step.script != "pipeline.eval.judge"]
    assert labels(others) == labels(plain.steps)
    assert [step.args for step in others] == [step.args for step in plain.steps]
    student = scored.step("judge-student-flores_devtest-en-ru")
    assert student.args == {
        "service": "LOCAL",
        "model": "big",
        "lines": 5,
        "options": '{"seed": 1}',
        "src": "English",
        "trg": "Russian",
        "dataset": "flores_devtest",
    }
    assert student.secrets == ("LOCAL_BASE_URL", "LOCAL_API_KEY")
    assert (student.resumable, student.repeatable, student.worker) == (True, False, "cpu")
    assert student.inputs["prompt"] == RepoFile("pipeline/translate/configs/prompts/judge.yml")
    backwards = scored.step("judge-backwards-flores_devtest-en-ru")
    assert (backwards.args["src"], backwards.args["trg"]) == ("Russian", "English")
    assert files(backwards, "corpus_src") == ["dataset-test-flores_devtest-en-ru:corpus.ru.zst"]
    assert files(backwards, "translations") == ["evaluate-backwards-flores_devtest-en-ru:translations.zst"]


def test_a_judge_has_a_prompt_of_its_own() -> None:
    (judged, *_) = evaluations(JUDGED.replace("judge: llm", "judge: llm, judge-prompt: /p/j.yml"), "judge")
    assert judged.inputs["prompt"] == LocalFile("/p/j.yml", "prompt.yml")


def test_files_in_mozillas_layout_make_no_judge_judge_again() -> None:
    """Their names are the experiment's, for one."""
    text = f"{JUDGED}final-evaluation: {{}}\n"
    plain, asked = graph(JUDGED), graph(text)
    assert not [step for step in plain.steps if step.script == "pipeline.eval.llm_ref"]
    label = "judge-exported-flores_devtest-en-ru"
    assert plain.step(label).args == asked.step(label).args
    assert plain.step(label).outputs == asked.step(label).outputs
    found = {step.label: step for step in evaluations(text, "llm_ref")}
    tests = ("flores_devtest", "flores_aug-upper_devtest", "ntrex_test")
    assert found.keys() == {
        f"llm-ref-{model}-{test}-en-ru" for model in ("exported", "released") for test in tests
    }
    step = found["llm-ref-exported-flores_devtest-en-ru"]
    begin = "en-ru__flores_devtest__bergamot__full__latest"
    assert step.args == {"results": begin}
    assert [*step.outputs] == [f"{begin}__llm-ref.metrics.json", f"{begin}__llm-ref.scores.json"]
    assert files(step, "segments") == [f"{label}:segments.zst"]


def test_a_judge_that_the_config_has_not_is_no_graph() -> None:
    values = read_values(JUDGED.replace("judge: llm", "judge: other"), "config.yml").value
    with pytest.raises(GraphError, match="evaluation.judge: other is no endpoint"):
        build_graph(TrainingConfig.model_validate(values), STAGES)


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
    assert not {"spbleu_model", "comet_segments", "metricx24_segments"} & plain.inputs.keys()
    assert not {"comet", "metricx"} & plain.args.keys()


def test_models_are_compared_by_metricx_in_each_form_that_is_named() -> None:
    (both, *_) = graph(f"{FULL}{METRICX}").stages["check_evaluate_exported"]
    assert both.args["metricx"] == "google/metricx-24-hybrid-large-v2p6-bfloat16@febb720"
    for form, name in (("reference", "metricx24_segments"), ("qe", "metricx24_qe_segments")):
        assert files(both, name) == [
            f"metricx-{form}-{model}-flores_devtest-en-ru:segments.zst"
            for model in ("exported", "finetuned-student")
        ]
    (one, *_) = graph(f"{FULL}evaluation: {{metricx: [qe]}}\n").stages["check_evaluate_exported"]
    assert {"metricx24_segments", "metricx24_qe_segments"} & one.inputs.keys() == {"metricx24_qe_segments"}


@pytest.mark.parametrize(("src", "trg"), [("en", "yue"), ("yue", "en")])
def test_bleu_counts_characters_of_every_chinese_language(src: str, trg: str) -> None:
    """Cantonese and others have codes of their own, and no spaces in Chinese characters."""
    paragraphs = "evaluation: {paragraphs: [flores_devtest]}\n" if trg == "en" else ""
    text = SMALL.replace("src: zh", f"src: {src}").replace("trg: en", f"trg: {trg}")
    found = graph(f"{text.replace('test: []', 'test: [flores_devtest]')}{paragraphs}final-evaluation: {{}}\n")
    counting = [step for step in found.steps if step.script in COUNT_WORDS]
    assert {step.script for step in counting} >= COUNT_WORDS - {f"{EVAL}.paragraphs"}
    for step in counting:
        target = src if "-backwards-" in step.label else trg
        assert bleu_tokenizer(str(step.args["trg"])) == ("zh" if target == "yue" else "13a"), step.label


@pytest.mark.parametrize(("src", "trg"), [("zh", "en"), ("en", "zh")])
def test_engines_that_are_timed_are_told_that_the_source_has_no_spaces(src: str, trg: str) -> None:
    """Others are told nothing, and keep their keys."""
    text = SMALL.replace("src: zh", f"src: {src}").replace("trg: en", f"trg: {trg}")
    text = text.replace("test: []", "test: [flores_devtest]")
    marian = "final-evaluation: {models: [{name: other, form: marian, url: 'https://example.org/other'}]}\n"
    found = [step for step in graph(text + marian).steps if "src_unspaced" in step.args]
    assert {step.stage: step.args["src_unspaced"] for step in found} == (
        {"evaluate_exported": True, "final_evaluation": True} if src == "zh" else {}
    )
    assert len(found) == (2 if src == "zh" else 0)  # the student, and the released model


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
