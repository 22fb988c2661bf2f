"""The exported student against others, where the config says so."""

from __future__ import annotations

import pytest

from tests.stages.configs import FULL, TEXTS, files, graph, labels
from translations_assets.config.languages import language
from translations_assets.stages.firefox import firefox_code

MODELS = """\
final-evaluation:
  models:
    - {name: opus-mt, form: ctranslate2, url: "https://example.org/opus-mt"}
    - {name: large, form: marian, url: "https://example.org/large"}
"""


@pytest.mark.parametrize("name", TEXTS)
def test_it_is_in_no_graph_that_does_not_ask_for_it(name: str) -> None:
    """So that what is below the student needs no network."""
    assert graph(TEXTS[name]).stages["final_evaluation"] == ()


def test_every_model_on_every_test_set() -> None:
    asked = graph(FULL + MODELS)
    tests = ("flores_devtest", "flores_aug-upper_devtest", "ntrex_test")
    models = ("exported", "released", "opus-mt", "large")
    evaluated = {f"final-evaluation-{model}-{test}-en-ru" for model in models for test in tests}
    fetched = {f"fetch-final-evaluation-{model}-en-ru" for model in models[1:]}
    assert {*labels(asked.stages["final_evaluation"])} == evaluated | fetched


def test_the_student_is_not_translated_with_again() -> None:
    step = graph(FULL + MODELS).step("final-evaluation-exported-ntrex_test-en-ru")
    assert files(step, "translations") == ["evaluate-exported-ntrex_test-en-ru:translations.zst"]
    assert files(step, "corpus_trg") == ["dataset-test-ntrex_test-en-ru:corpus.ru.zst"]
    assert "model" not in step.inputs
    assert "en-ru__ntrex_test__bergamot__full__latest__chrf.metrics.json" in step.outputs


def test_sets_of_mozillas_final_evaluations_have_its_names() -> None:
    sets = {"wmt24pp_test": "wmt24pp", "bouquet_test": "bouquet", "flores200-plus_devtest": "flores200-plus"}
    for name, mozillas in (sets | {"bouquet_dev": "bouquet_dev"}).items():
        step = graph((FULL + MODELS).replace("ntrex_test", name)).step(
            f"final-evaluation-exported-{name}-en-ru"
        )
        assert f"en-ru__{mozillas}__bergamot__full__latest__translations.json" in step.outputs


def test_what_others_are_made_of() -> None:
    asked = graph(FULL + MODELS)
    released = asked.step("final-evaluation-released-ntrex_test-en-ru")
    assert files(released, "model") == ["fetch-final-evaluation-released-en-ru:model.tar"]
    assert "en-ru__ntrex_test__bergamot__released__latest__translations.json" in released.outputs
    large = asked.step("final-evaluation-large-ntrex_test-en-ru")
    assert "fetch-final-evaluation-large-en-ru:model.npz" in files(large, "model")
    assert "en-ru__ntrex_test__marian__large__latest__bleu.scores.json" in large.outputs
    other = asked.step("fetch-final-evaluation-opus-mt-en-ru")
    assert other.args["url"] == "https://example.org/opus-mt"
    assert other.secrets == ("TRANSLATIONS_LOGIN_EXAMPLE_ORG",)


def test_metrics_that_the_config_names_score_the_others_too() -> None:
    """The exported student is scored by them where it is evaluated."""
    asked = graph(FULL + MODELS + "evaluation: {spbleu: true}\n")
    scored = [step for step in asked.stages["final_evaluation"] if step.script == "pipeline.eval.spbleu"]
    assert {step.label for step in scored} == {
        f"spbleu-{model}-{test}-en-ru"
        for model in ("released", "opus-mt", "large")
        for test in ("flores_devtest", "flores_aug-upper_devtest", "ntrex_test")
    }
    assert "en-ru__ntrex_test__bergamot__released__latest__spbleu.scores.json" in (
        asked.step("spbleu-released-ntrex_test-en-ru").outputs
    )
    exported = asked.step("spbleu-exported-ntrex_test-en-ru")
    assert "en-ru__ntrex_test__bergamot__full__latest__spbleu.metrics.json" in exported.outputs
    assert asked.step("spbleu-student-ntrex_test-en-ru").outputs == ("scores.json",)


def test_the_released_model_alone_or_not_at_all() -> None:
    alone = graph(FULL + "final-evaluation: {}\n")
    assert len(alone.stages["final_evaluation"]) == 1 + 2 * 3
    without = graph(FULL + MODELS.replace("  models", "  released: false\n  models"))
    assert not [label for label in labels(without.stages["final_evaluation"]) if "released" in label]


def test_the_student_is_compared_with_each_line_by_line() -> None:
    asked = graph(FULL + MODELS)
    step = asked.step("check-final-exported-ntrex_test-en-ru")
    assert step.args["others"] == ["released", "opus-mt", "large"]
    assert files(step, "translations") == ["evaluate-exported-ntrex_test-en-ru:translations.zst"]
    assert files(step, "others_translations")[0] == (
        "final-evaluation-released-ntrex_test-en-ru:translations.zst"
    )
    assert len(asked.stages["check_final_evaluation"]) == 3
    assert not graph(FULL).stages["check_final_evaluation"]


@pytest.mark.parametrize(
    ("code", "firefox"), [("ru", "ru"), ("zh", "zh-Hans"), ("zh_hant", "zh-Hant"), ("nb", "nb")]
)
def test_codes_of_firefox(code: str, firefox: str) -> None:
    assert firefox_code(language(code)) == firefox
