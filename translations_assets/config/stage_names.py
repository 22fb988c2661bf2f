"""Names of stages, of every generation, and the stages of this project that they mean.

Mozilla's pipeline renamed its stages twice; configs, guides and habits hold all the names. Today's names are
those of 2024 with underscores. A name may mean several stages (`dataset`, `evaluate`, `all`), and several
names one stage: splitting, translating and collecting chunks are steps of a single stage here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from translations_assets.config.errors import ConfigError, suggestion

_ALL = ("all", "all-pipeline", "all-pr-pipeline")
_NOT_BUILT = frozenset({"update-db"})
# Upstream compiles its fork of Marian as a stage; here Marian comes with the environment.
_NEVER = {"compile": "Marian is part of the environment and is not compiled"}


# All stages in their order, each with its names of other generations, with hyphens.
_STAGES: Mapping[str, str] = {
    "dataset_train": "dataset download",
    "dataset_devtest": "dataset download",
    "dataset_test": "dataset download",
    "dataset_mono_src": "dataset download",
    "dataset_mono_trg": "dataset download",
    "analyze_corpus": "corpus-analyze-parallel",
    "analyze_mono": "corpus-analyze-mono",
    "merge_corpus": "corpus-merge-parallel continuation-corpus",
    "merge_devset": "corpus-merge-devset",
    "merge_mono_src": "corpus-merge-mono merge-mono",
    "merge_mono_trg": "corpus-merge-mono merge-mono",
    "clean_corpus": "corpus-clean-parallel",
    "clean_mono": "corpus-clean-mono",
    "bicleaner_model": "corpus-clean-parallel-fetch-bicleaner-model",
    "bicleaner": "corpus-clean-parallel-bicleaner-ai bicleaner-ai",
    "monocleaner": "corpus-clean-mono",
    "train_vocab": "build-vocab continuation-vocab",
    "train_backwards": "backtranslations-train-backwards-model continuation-model",
    "train_teacher": "train-teacher-model continuation-model",
    "train_student": "distillation-student-model-train",
    "finetune_student": "distillation-student-model-finetune",
    "alignments_original": "corpus-align-parallel alignments-teacher",
    "alignments_backtranslated": "corpus-align-backtranslations",
    "alignments_student": "corpus-align-distillation",
    "shortlist": "distillation-corpus-build-shortlist",
    "translate_mono_trg": (
        "backtranslations-mono-trg-chunk backtranslations-mono-trg-translate "
        "backtranslations-mono-trg-dechunk-translations split-mono-trg collect-mono-trg split-mono "
        "continuation-corpus"
    ),
    "convert_teacher": "",
    "translate_corpus": (
        "distillation-parallel-src-chunk distillation-parallel-src-translate "
        "distillation-parallel-src-extract-best distillation-parallel-src-dechunk-translations "
        "split-corpus extract-best collect-corpus"
    ),
    "translate_mono_src": (
        "split-mono distillation-mono-src-chunk distillation-mono-src-translate "
        "distillation-mono-src-dechunk-translations split-mono-src collect-mono-src"
    ),
    "merge_translated": "corpus-merge-distillation",
    "score": "distillation-parallel-src-translations-score",
    "cefilter": "distillation-corpus-final-filtering continuation-corpus",
    "evaluation_inputs": "",
    "quantize": "distillation-student-model-quantize",
    "export": "",
    "evaluate_backwards": "evaluate",
    "evaluate_teacher": "evaluate",
    "evaluate_teacher_ensemble": "evaluate",
    "evaluate_student": "evaluate",
    "evaluate_finetuned_student": "evaluate",
    "evaluate_quantized": "evaluate",
    "evaluate_exported": "evaluate",
    "final_evaluation": "final-eval-lang final-eval",
    "check_merge_corpus": "",
    "check_merge_mono_src": "",
    "check_merge_mono_trg": "",
    "check_train_vocab": "",
    "check_train_teacher": "",
    "check_translate_mono_trg": "",
    "check_alignments_original": "",
    "check_alignments_backtranslated": "",
    "check_translate_corpus": "",
    "check_translate_mono_src": "",
    "check_cefilter": "",
    "check_alignments_student": "",
    "check_export": "",
    "check_evaluate_student": "",
    "check_evaluate_finetuned_student": "",
    "check_evaluate_quantized": "",
    "check_evaluate_exported": "",
    "check_final_evaluation": "",
}


def stage_names() -> tuple[str, ...]:
    """Today's names of all stages."""
    return tuple(_STAGES)


@cache
def _meant() -> Mapping[str, tuple[str, ...]]:
    """The stages that each name of other generations means."""
    meant: dict[str, tuple[str, ...]] = dict.fromkeys(_ALL, stage_names())
    for stage, names in _STAGES.items():
        for name in names.split():
            meant[name] = (*meant.get(name, ()), stage)
    return meant


def resolve_stage(name: str) -> tuple[str, ...]:
    """The stages that a name of any generation means; hyphens may stand for underscores.

    Raises ConfigError for a name that is unknown, naming the nearest one, or whose stage is not built.
    """
    if name.replace("-", "_") in stage_names():
        return (name.replace("-", "_"),)
    spelled = name.replace("_", "-")
    if spelled in _meant():
        return _meant()[spelled]
    if spelled in _NOT_BUILT:
        raise ConfigError.of(f"the stage {name!r} is not built yet; the stages: {', '.join(stage_names())}")
    if spelled in _NEVER:
        raise ConfigError.of(f"there is no stage {name!r}: {_NEVER[spelled]}")
    raise ConfigError.of(f"{name!r} is not a stage.{meant_stage(name, known_names())}")


def meant_stage(name: str, names: Iterable[str]) -> str:
    """A hint at what a wrong name may mean: the nearest of some names, or else all stages there are."""
    return suggestion(name, names) or f" The stages: {', '.join(stage_names())}"


def worker_kinds() -> list[str]:
    """The names that worker classes are given by."""
    return ["default", *spellings([*known_names(), *sorted(_NOT_BUILT), *_NEVER])]


def spellings(names: Iterable[str]) -> list[str]:
    """Names, with all that they are when hyphens stand for underscores, or underscores for hyphens."""
    given = list(names)
    others = (name.replace(*marks) for marks in (("_", "-"), ("-", "_")) for name in given)
    return list(dict.fromkeys([*given, *others]))


def is_known(name: str) -> bool:
    """True if any generation has a stage of that name, built or not."""
    return name.replace("_", "-") in {each.replace("_", "-") for each in worker_kinds()[1:]}


def known_names() -> tuple[str, ...]:
    """Today's stage names, and all others that `resolve_stage` takes."""
    return (*stage_names(), *_meant())
