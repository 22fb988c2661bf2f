"""Steps that compute the numbers of quality gates; `translations_assets.checks` judges them.

Each stage here belongs to the stage that it checks. It is planned, run and cached as all are, but becomes
asset checks and no asset. Its inputs are among what the checked stage and all before it make.
"""

from __future__ import annotations

from collections.abc import Sequence

from translations_assets.config.datasets import parse_dataset
from translations_assets.config.languages import language
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Arg, Folder, Input, RepoFile
from translations_assets.stages.handles import (
    DECODING_CONFIGS,
    GPU_ATTEMPTS,
    Aligned,
    Corpus,
    Model,
    Mono,
    Side,
    Vocab,
    languages,
    marian_args,
    pair,
)
from translations_assets.stages.languages import Identifying, letters

NUMBERS = "numbers.json"
SEED = 1111


@stage(group="checks", checks="merge_corpus")
def check_merge_corpus(
    config: TrainingConfig,
    merge_corpus: Corpus | None,
    dataset_devtest: list[Corpus],
    dataset_test: list[Corpus],
) -> None:
    """Held-out lines, languages, duplicates, lengths and empty lines of the parallel corpus."""
    _check_corpus(config, "corpus", merge_corpus, dataset_devtest + dataset_test, whole_pairs=True)


@stage(group="checks", checks="merge_mono_src")
def check_merge_mono_src(
    config: TrainingConfig,
    merge_mono_src: Mono | None,
    dataset_devtest: list[Corpus],
    dataset_test: list[Corpus],
) -> None:
    """Held-out lines, languages, duplicates and empty lines of the monolingual source text."""
    _check_mono(config, "src", merge_mono_src, dataset_devtest + dataset_test)


@stage(group="checks", checks="merge_mono_trg")
def check_merge_mono_trg(
    config: TrainingConfig,
    merge_mono_trg: Mono | None,
    dataset_devtest: list[Corpus],
    dataset_test: list[Corpus],
) -> None:
    """Held-out lines, languages, duplicates and empty lines of the monolingual target text."""
    _check_mono(config, "trg", merge_mono_trg, dataset_devtest + dataset_test)


@stage(group="checks", checks="train_vocab")
def check_train_vocab(
    config: TrainingConfig,
    train_vocab: Vocab,
    merge_corpus: Corpus | None,
    dataset_devtest: list[Corpus],
    dataset_test: list[Corpus],
) -> None:
    """How much of the corpus and of the dev and test sets the vocabularies cover."""
    src, trg = config.experiment.src, config.experiment.trg
    held_out = _unmodified(dataset_devtest + dataset_test)
    step(
        "pipeline.checks.vocabulary",
        label=f"check-vocab-{src}-{trg}",
        args={
            "langs": [src, trg],
            "letters_first": letters(language(src)),
            "letters_second": letters(language(trg)),
            "seed": SEED,
        },
        inputs={
            "vocabs": [train_vocab.src, train_vocab.trg],
            "corpus": [merge_corpus.src, merge_corpus.trg] if merge_corpus else None,
            "held_out_first": [corpus.src for corpus in held_out],
            "held_out_second": [corpus.trg for corpus in held_out],
        },
        outputs=(NUMBERS,),
    )


@stage(group="checks", checks="train_teacher")
def check_train_teacher(config: TrainingConfig, train_teacher: list[Model], merge_devset: Corpus) -> None:
    """What the teachers together make of the dev set, before they translate everything."""
    if not train_teacher:
        return
    step(
        "pipeline.checks.models",
        label=f"check-teacher-{pair(config)}",
        args={
            **languages(config),
            "marian_args": marian_args(config.marian_args.decoding_teacher),
            "seed": SEED,
        },
        inputs={
            "models": train_teacher,
            "text": merge_devset.src,
            "references": merge_devset.trg,
            "decoding_config": RepoFile(f"{DECODING_CONFIGS}/teacher.yml"),
        },
        outputs=(NUMBERS,),
        worker="gpu",
        repeatable=False,
        attempts=GPU_ATTEMPTS,
    )


@stage(group="checks", checks="translate_mono_trg")
def check_translate_mono_trg(config: TrainingConfig, translate_mono_trg: Corpus | None) -> None:
    """Empty, copied, repeated and looping back-translations, and their lengths."""
    _check_corpus(config, "backtranslations", translate_mono_trg, [])


@stage(group="checks", checks="alignments_original")
def check_alignments_original(config: TrainingConfig, alignments_original: Aligned | None) -> None:
    """Links of the parallel corpus' alignments."""
    _check_alignments(config, "original", alignments_original)


@stage(group="checks", checks="alignments_backtranslated")
def check_alignments_backtranslated(
    config: TrainingConfig, alignments_backtranslated: Aligned | None
) -> None:
    """Links of the back-translated corpus' alignments."""
    _check_alignments(config, "backtranslated", alignments_backtranslated)


@stage(group="checks", checks="translate_corpus")
def check_translate_corpus(config: TrainingConfig, translate_corpus: Corpus | None) -> None:
    """Empty, copied, repeated and looping translations of the parallel corpus, and their lengths."""
    _check_corpus(config, "translated-corpus", translate_corpus, [])


@stage(group="checks", checks="translate_mono_src")
def check_translate_mono_src(config: TrainingConfig, translate_mono_src: Corpus | None) -> None:
    """Empty, copied, repeated and looping translations of the monolingual source text, and their lengths."""
    _check_corpus(config, "translated-mono-src", translate_mono_src, [])


@stage(group="checks", checks="cefilter")
def check_cefilter(
    config: TrainingConfig, cefilter: Corpus, dataset_devtest: list[Corpus], dataset_test: list[Corpus]
) -> None:
    """Held-out lines, languages, duplicates, lengths, empty and copied lines of what students learn from."""
    _check_corpus(config, "distilled", cefilter, dataset_devtest + dataset_test)


@stage(group="checks", checks="alignments_student")
def check_alignments_student(config: TrainingConfig, alignments_student: Aligned) -> None:
    """Links of the distilled corpus' alignments."""
    _check_alignments(config, "student", alignments_student)


@stage(group="checks", checks="export")
def check_export(config: TrainingConfig, export: Folder, dataset_devtest: list[Corpus]) -> None:
    """Whether the exported files load and translate."""
    step(
        "pipeline.checks.exported",
        label=f"check-export-{pair(config)}",
        args={"seed": SEED},
        inputs={"exported": list(export.files.values()), "text": dataset_devtest[0].src},
        outputs=(NUMBERS,),
        repeatable=False,
    )


def _unmodified(datasets: Sequence[Corpus]) -> list[Corpus]:
    """The datasets without the variants that ask for the unusual, such as upper case."""
    return [dataset for dataset in datasets if not parse_dataset(dataset.name).augmentation]


def _check_corpus(
    config: TrainingConfig,
    name: str,
    corpus: Corpus | None,
    held_out: Sequence[Corpus],
    *,
    whole_pairs: bool = False,
) -> None:
    if corpus is None:
        return
    src, trg = config.experiment.src, config.experiment.trg
    languages, models = _identify(config, name, [src, trg]) if held_out else ({}, {})
    step(
        "pipeline.checks.text",
        label=f"check-{name}-{src}-{trg}",
        args={"langs": [src, trg], **languages, "whole_pairs": whole_pairs, "seed": SEED},
        inputs={
            **models,
            "texts": [corpus.src, corpus.trg],
            "held_out_first": [dataset.src for dataset in held_out],
            "held_out_second": [dataset.trg for dataset in held_out],
        },
        outputs=(NUMBERS,),
    )


def _check_mono(config: TrainingConfig, side: Side, mono: Mono | None, held_out: Sequence[Corpus]) -> None:
    if mono is None:
        return
    lang: str = getattr(config.experiment, side)
    languages, models = _identify(config, f"mono-{side}", [lang])
    texts = {"texts": [mono.text], "held_out_first": [getattr(corpus, side) for corpus in held_out]}
    step(
        "pipeline.checks.text",
        label=f"check-mono-{side}-{lang}",
        args={"langs": [lang], **languages, "seed": SEED},
        inputs={**models, **texts},
        outputs=(NUMBERS,),
    )


def _identify(
    config: TrainingConfig, name: str, langs: Sequence[str]
) -> tuple[dict[str, Arg], dict[str, Input | None]]:
    """The arguments and inputs by which a check identifies the languages of its texts."""
    identifying = Identifying(config, f"check-{name}")
    spoken = [language(lang) for lang in langs]
    args: dict[str, Arg] = {"scripts": [one.script for one in spoken]}
    models: dict[str, Input | None] = {}
    for place, one in zip(("first", "second"), spoken, strict=False):
        found = identifying.of_text(one)
        args[f"labels_{place}"], models[f"language_model_{place}"] = found.labels, found.model
    return args, models


def _check_alignments(config: TrainingConfig, name: str, aligned: Aligned | None) -> None:
    if aligned is None:
        return
    step(
        "pipeline.checks.alignments",
        label=f"check-alignments-{name}-{pair(config)}",
        inputs={"tokens": [aligned.src, aligned.trg], "alignments": aligned.alignments},
        outputs=(NUMBERS,),
    )
