"""Names of stages, of every generation."""

import pytest

from translations_assets.config.errors import ConfigError
from translations_assets.config.stage_names import is_known, known_names, resolve_stage, stage_names
from translations_assets.stages import STAGES

DATASETS = ("dataset_train", "dataset_devtest", "dataset_test", "dataset_mono_src", "dataset_mono_trg")
EVALUATIONS = (
    *("evaluate_backwards", "evaluate_teacher", "evaluate_teacher_ensemble", "evaluate_student"),
    *("evaluate_finetuned_student", "evaluate_quantized", "evaluate_exported"),
)


@pytest.mark.parametrize("name", STAGES)
def test_todays_names_mean_themselves_with_hyphens_too(name: str) -> None:
    assert resolve_stage(name) == (name,)
    assert resolve_stage(name.replace("_", "-")) == (name,)


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        ("all", tuple(STAGES)),
        ("all-pipeline", tuple(STAGES)),
        ("dataset", DATASETS),
        ("download", DATASETS),
        ("evaluate", EVALUATIONS),
        ("merge-mono", ("merge_mono_src", "merge_mono_trg")),
        ("merge_mono", ("merge_mono_src", "merge_mono_trg")),
        ("bicleaner-ai", ("bicleaner",)),
        ("corpus-clean-parallel-bicleaner-ai", ("bicleaner",)),
        ("corpus-clean-parallel-fetch-bicleaner-model", ("bicleaner_model",)),
        ("corpus-clean-mono", ("clean_mono", "monocleaner")),
        ("corpus-merge-parallel", ("merge_corpus",)),
        ("build-vocab", ("train_vocab",)),
        ("backtranslations-train-backwards-model", ("train_backwards",)),
        ("collect-mono-trg", ("translate_mono_trg",)),
        ("extract-best", ("translate_corpus",)),
        ("distillation-parallel-src-dechunk-translations", ("translate_corpus",)),
        ("alignments-teacher", ("alignments_original",)),
        ("corpus-align-distillation", ("alignments_student",)),
        ("train-teacher-model", ("train_teacher",)),
        ("distillation-corpus-final-filtering", ("cefilter",)),
        ("distillation-student-model-quantize", ("quantize",)),
        ("final-eval-lang", ("final_evaluation",)),
    ],
)
def test_names_of_other_generations(name: str, stages: tuple[str, ...]) -> None:
    assert resolve_stage(name) == stages


def test_every_known_name_means_stages_that_there_are() -> None:
    for name in known_names():
        assert set(resolve_stage(name)) <= set(STAGES)
        assert is_known(name)
    others = [name for name in known_names() if name not in stage_names()]
    assert not set(stage_names()) & {name.replace("-", "_") for name in others}


def test_a_stage_that_is_not_built_says_so() -> None:
    with pytest.raises(ConfigError, match="the stage 'update-db' is not built yet"):
        resolve_stage("update-db")
    assert is_known("update-db")


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="'train-studet' is not a stage. Did you mean 'train_student'"):
        resolve_stage("train-studet")
    with pytest.raises(ConfigError, match="The stages: dataset_train"):
        resolve_stage("xyz")
    assert not is_known("xyz")


def test_marian_is_not_compiled() -> None:
    with pytest.raises(ConfigError, match="Marian is part of the environment"):
        resolve_stage("compile")
