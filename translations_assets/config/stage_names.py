"""Names of stages, of every generation, and the stages of this project that they mean.

Mozilla's pipeline renamed its stages twice; configs, guides and habits hold all the names. Today's names are
those of 2024 with underscores. A name may mean several stages (`dataset`, `evaluate`, `all`), and several
names one stage: splitting, translating and collecting chunks are steps of a single stage here.
"""

from __future__ import annotations

from collections.abc import Iterable

from translations_assets.config.errors import ConfigError, suggestion

DATASETS = ("dataset_train", "dataset_devtest", "dataset_test", "dataset_mono_src", "dataset_mono_trg")
EVALUATIONS = (
    "evaluate_backwards",
    "evaluate_teacher",
    "evaluate_teacher_ensemble",
    "evaluate_student",
    "evaluate_finetuned_student",
    "evaluate_quantized",
)
CHECKS = (
    "check_merge_corpus",
    "check_merge_mono_src",
    "check_merge_mono_trg",
    "check_train_vocab",
    "check_train_teacher",
    "check_translate_mono_trg",
    "check_alignments_original",
    "check_alignments_backtranslated",
    "check_translate_corpus",
    "check_translate_mono_src",
    "check_cefilter",
    "check_alignments_student",
    "check_export",
)
STAGE_NAMES = (
    *DATASETS,
    "analyze_corpus",
    "analyze_mono",
    "clean_corpus",
    "clean_mono",
    "bicleaner_model",
    "bicleaner",
    "monocleaner",
    "merge_corpus",
    "merge_devset",
    "merge_mono_src",
    "merge_mono_trg",
    "train_vocab",
    "train_backwards",
    "translate_mono_trg",
    "alignments_original",
    "alignments_backtranslated",
    "train_teacher",
    "convert_teacher",
    "translate_corpus",
    "translate_mono_src",
    "merge_translated",
    "score",
    "cefilter",
    "alignments_student",
    "shortlist",
    "train_student",
    "finetune_student",
    "quantize",
    "export",
    *EVALUATIONS,
    *CHECKS,
)

_MERGE_MONO = ("merge_mono_src", "merge_mono_trg")
_EARLIER_AND_LATER: dict[str, tuple[str, ...]] = {
    # everything
    "all": STAGE_NAMES,
    "all-pipeline": STAGE_NAMES,
    "all-pr-pipeline": STAGE_NAMES,
    # data and cleaning
    "dataset": DATASETS,
    "download": DATASETS,
    "corpus-analyze-parallel": ("analyze_corpus",),
    "corpus-analyze-mono": ("analyze_mono",),
    "corpus-clean-parallel": ("clean_corpus",),
    "corpus-clean-parallel-fetch-bicleaner-model": ("bicleaner_model",),
    "corpus-clean-parallel-bicleaner-ai": ("bicleaner",),
    "bicleaner-ai": ("bicleaner",),
    "corpus-clean-mono": ("clean_mono", "monocleaner"),
    "corpus-merge-parallel": ("merge_corpus",),
    "corpus-merge-devset": ("merge_devset",),
    "corpus-merge-mono": _MERGE_MONO,
    "merge-mono": _MERGE_MONO,
    # vocabulary, back-translation, alignments, teacher
    "build-vocab": ("train_vocab",),
    "backtranslations-train-backwards-model": ("train_backwards",),
    "backtranslations-mono-trg-chunk": ("translate_mono_trg",),
    "backtranslations-mono-trg-translate": ("translate_mono_trg",),
    "backtranslations-mono-trg-dechunk-translations": ("translate_mono_trg",),
    "split-mono-trg": ("translate_mono_trg",),
    "collect-mono-trg": ("translate_mono_trg",),
    "split-mono": ("translate_mono_src", "translate_mono_trg"),
    "corpus-align-parallel": ("alignments_original",),
    "alignments-teacher": ("alignments_original",),
    "corpus-align-backtranslations": ("alignments_backtranslated",),
    "train-teacher-model": ("train_teacher",),
    # distillation
    "distillation-mono-src-chunk": ("translate_mono_src",),
    "distillation-mono-src-translate": ("translate_mono_src",),
    "distillation-mono-src-dechunk-translations": ("translate_mono_src",),
    "split-mono-src": ("translate_mono_src",),
    "collect-mono-src": ("translate_mono_src",),
    "distillation-parallel-src-chunk": ("translate_corpus",),
    "distillation-parallel-src-translate": ("translate_corpus",),
    "distillation-parallel-src-extract-best": ("translate_corpus",),
    "distillation-parallel-src-dechunk-translations": ("translate_corpus",),
    "split-corpus": ("translate_corpus",),
    "extract-best": ("translate_corpus",),
    "collect-corpus": ("translate_corpus",),
    "corpus-merge-distillation": ("merge_translated",),
    "distillation-parallel-src-translations-score": ("score",),
    "distillation-corpus-final-filtering": ("cefilter",),
    # student, release, evaluation
    "corpus-align-distillation": ("alignments_student",),
    "distillation-corpus-build-shortlist": ("shortlist",),
    "distillation-student-model-train": ("train_student",),
    "distillation-student-model-finetune": ("finetune_student",),
    "distillation-student-model-quantize": ("quantize",),
    "evaluate": EVALUATIONS,
    # what is fetched from an earlier run stands in the stage that would make it
    "continuation-corpus": ("merge_corpus", "translate_mono_trg", "cefilter"),
    "continuation-vocab": ("train_vocab",),
    "continuation-model": ("train_backwards", "train_teacher"),
}
_NOT_BUILT = frozenset(
    {
        "final-eval",
        "final-eval-lang",
        "update-db",
    }
)
# Upstream compiles its fork of Marian as a stage; here Marian comes with the environment.
_NEVER = {"compile": "Marian is part of the environment and is not compiled"}


def resolve_stage(name: str) -> tuple[str, ...]:
    """The stages that a name of any generation means, in pipeline order; hyphens may stand for underscores.

    Raises ConfigError for a name that is unknown, naming the nearest one, or whose stage is not built.
    """
    if name.replace("-", "_") in STAGE_NAMES:
        return (name.replace("-", "_"),)
    spelled = name.replace("_", "-")
    if spelled in _EARLIER_AND_LATER:
        return _EARLIER_AND_LATER[spelled]
    if spelled in _NOT_BUILT:
        raise ConfigError.of(f"the stage {name!r} is not built yet; the stages: {', '.join(STAGE_NAMES)}")
    if spelled in _NEVER:
        raise ConfigError.of(f"there is no stage {name!r}: {_NEVER[spelled]}")
    near = suggestion(name, known_names()) or f" The stages: {', '.join(STAGE_NAMES)}"
    raise ConfigError.of(f"{name!r} is not a stage.{near}")


def worker_kinds() -> list[str]:
    """The names that worker classes are given by."""
    return ["default", *spellings([*known_names(), *sorted(_NOT_BUILT), *_NEVER])]


def spellings(names: Iterable[str]) -> list[str]:
    """Names, with all that they are when hyphens stand for underscores, or underscores for hyphens."""
    given = list(names)
    others = (name.replace(*marks) for marks in (("_", "-"), ("-", "_")) for name in given)
    return list(dict.fromkeys([*given, *others]))


def is_known(name: str) -> bool:
    """Whether any generation knows the name, its stage built or not."""
    spelled = name.replace("_", "-")
    return name.replace("-", "_") in STAGE_NAMES or any(
        spelled in names for names in (_EARLIER_AND_LATER, _NOT_BUILT, _NEVER)
    )


def known_names() -> tuple[str, ...]:
    """Today's stage names, and all others that `resolve_stage` takes."""
    return (*STAGE_NAMES, *_EARLIER_AND_LATER)
