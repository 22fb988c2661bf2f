"""Translation: back-translation; distillation, with the scores of the backwards model and their filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Output, RepoFile, Step
from translations_assets.stages.continuation import fetch_corpus, trains_teachers
from translations_assets.stages.handles import (
    CONVERTED_FILES,
    DECODING_CONFIGS,
    RESUMED_ATTEMPTS,
    Corpora,
    Corpus,
    Model,
    Mono,
    corpus_step,
    marian_args,
)

CUDA = RepoFile("requirements/cuda.lock")
SEED = 42
DROPPED_SHARE = 0.05


def split_pairs(family: str, parts: int, first: Output, second: Output) -> list[tuple[Output, Output]]:
    """The parts of two texts, line by line in two columns, in order, from a step that splits both."""
    split = _split(family, parts, first, second)
    return [(split[f"part.{i}.zst"], split[f"part.{i}.ref.zst"]) for i in range(1, parts + 1)]


def _split(family: str, parts: int, text: Output, references: Output | None) -> Step:
    kinds = (".zst", ".ref.zst") if references else (".zst",)
    return step(
        "pipeline.translate.split",
        label=f"split-{family}",
        args={"parts": parts},
        inputs={"text": text, "references": references},
        outputs=(*(f"part.{i}{kind}" for i in range(1, parts + 1) for kind in kinds), "stats.json"),
    )


def collect(family: str, name: str, parts: Sequence[Output], text: Output) -> Output:
    """The parts of what was made of a text, put together in order under a name."""
    collected = step(
        "pipeline.translate.collect",
        label=f"collect-{family}",
        args={"name": name},
        inputs={"parts": parts, "text": text},
        outputs=(name, "stats.json"),
    )
    return collected[name]


def translate_in_chunks(
    config: TrainingConfig,
    name: str,
    text: Output,
    models: Sequence[Model],
    decoding: Literal["backward", "teacher"],
    *,
    converted: Model | None = None,
    references: Output | None = None,
    mbr: bool = False,
) -> Output:
    """Split a text, translate the parts, collect them in order.

    Marian decodes with `models`, or CTranslate2 with the one in its form. With references, or with `mbr`, the
    lists of n best are searched for the translation that is nearest to the reference, or to all others. The
    file is called as what `name` begins with, and the language.
    """
    backwards, options = decoding == "backward", config.marian_args
    args = options.decoding_backward if backwards else options.decoding_teacher
    lang = config.experiment.src if backwards else config.experiment.trg
    parts, family = config.taskcluster.split_chunks, f"{name}-{config.pair}"
    split, is_chosen = _split(family, parts, text, references), mbr or references is not None
    translated = []
    for i in range(1, parts + 1):
        output = "nbest.zst" if is_chosen else "translations.zst"
        chunk = step(
            "pipeline.translate.with_ctranslate2" if converted else "pipeline.translate.translate",
            label=f"translate-{family}-{i}/{parts}",
            args={"marian_args": marian_args(args), "nbest": is_chosen},
            inputs={
                **({"model": converted, "cuda_lock": CUDA} if converted else {"models": models}),
                "text": split[f"part.{i}.zst"],
                "decoding_config": RepoFile(f"{DECODING_CONFIGS}/{decoding}.yml"),
            },
            outputs=(output, "stats.json"),
            worker="gpu",
            resumable=True,
            repeatable=False,
            attempts=RESUMED_ATTEMPTS,
        )
        translated.append(chunk[output])
    if mbr:
        translated = [
            _choose(
                "pipeline.translate.mbr",
                f"mbr-{family}-{i}/{parts}",
                nbest=nbest,
                text=split[f"part.{i}.zst"],
            )
            for i, nbest in enumerate(translated, start=1)
        ]
    elif references:
        translated = [
            _choose(
                "pipeline.translate.extract_best",
                f"extract-best-{config.pair}-{i}/{parts}",
                nbest=nbest,
                references=split[f"part.{i}.ref.zst"],
            )
            for i, nbest in enumerate(translated, start=1)
        ]
    return collect(family, f"{name.partition('-')[0]}.{lang}.zst", translated, text)


def _choose(script: str, label: str, **inputs: Output) -> Output:
    """The translation of each line that a script chooses from the lists of n best."""
    chosen = step(
        script,
        label=label,
        inputs=inputs,
        outputs=("best.zst", "stats.json"),
        resumable=True,
        attempts=RESUMED_ATTEMPTS,
    )
    return chosen["best.zst"]


@stage(group="back_translation")
def translate_mono_trg(
    config: TrainingConfig, merge_mono_trg: Mono | None, train_backwards: Model | None
) -> Corpus | None:
    """Mono target text with its back-translation as the source side; split, translated, collected.

    It is fetched where an earlier run's is given.
    """
    if trains_teachers(config) and (fetched := fetch_corpus(config, "backtranslations")):
        return fetched
    if merge_mono_trg is None or train_backwards is None:
        return None
    text, converted = merge_mono_trg.text, None
    if config.experiment.backwards_decoder == "ctranslate2":
        converted = _convert(f"convert-backwards-{config.pair}", train_backwards)
    translated = translate_in_chunks(
        config, "mono-trg", text, [train_backwards], "backward", converted=converted
    )
    return Corpus(translated, text)


@stage(group="distillation")
def convert_teacher(config: TrainingConfig, train_teacher: list[Model]) -> Model | None:
    """The teacher in CTranslate2's form, where the config decodes with it."""
    if config.experiment.teacher_decoder != "ctranslate2" or not train_teacher:
        return None
    (teacher,) = train_teacher
    return _convert(f"convert-teacher-{config.pair}", teacher)


def _convert(label: str, model: Model) -> Model:
    """The model in CTranslate2's form."""
    converted = step(
        "pipeline.translate.convert",
        label=label,
        inputs={"model": model},
        outputs=(*CONVERTED_FILES, "stats.json"),
    )
    return converted.folder(*CONVERTED_FILES)


@stage(group="distillation")
def translate_corpus(
    config: TrainingConfig,
    merge_corpus: Corpus | None,
    train_teacher: list[Model],
    convert_teacher: Model | None,
) -> Corpus | None:
    """The parallel source text with the teachers' translation that is nearest to the reference by chrF, or to
    their other translations (`experiment.selection`).
    """
    if merge_corpus is None:
        return None
    text, mbr = merge_corpus.src, config.experiment.selection.corpus == "mbr"
    translated = translate_in_chunks(
        config,
        "corpus",
        text,
        train_teacher,
        "teacher",
        converted=convert_teacher,
        references=None if mbr else merge_corpus.trg,
        mbr=mbr,
    )
    return Corpus(text, translated)


@stage(group="distillation")
def translate_mono_src(
    config: TrainingConfig,
    merge_mono_src: Mono | None,
    train_teacher: list[Model],
    convert_teacher: Model | None,
) -> Corpus | None:
    """Mono source text with the teachers' likeliest translation, or the one that is nearest to their others
    (`experiment.selection`).
    """
    if merge_mono_src is None:
        return None
    text = merge_mono_src.text
    translated = translate_in_chunks(
        config,
        "mono-src",
        text,
        train_teacher,
        "teacher",
        converted=convert_teacher,
        mbr=config.experiment.selection.mono == "mbr",
    )
    return Corpus(text, translated)


@stage(group="distillation")
def merge_translated(
    config: TrainingConfig,
    translate_corpus: Corpus | None,
    translate_mono_src: Corpus | None,
    dataset_devtest: Corpora,
    dataset_test: Corpora,
) -> Corpus | None:
    """The distilled corpus, shuffled, without duplicates and without any line of a dev or test set."""
    if translate_corpus is None:
        return None
    held_out = dataset_devtest + dataset_test
    return corpus_step(
        config,
        "pipeline.clean.merge_translated",
        label=f"merge-translated-{config.pair}",
        args={"seed": SEED},
        inputs={
            **translate_corpus.sides,
            "mono_src": translate_mono_src.src if translate_mono_src else None,
            "mono_trg": translate_mono_src.trg if translate_mono_src else None,
            "held_out_src": [corpus.src for corpus in held_out],
            "held_out_trg": [corpus.trg for corpus in held_out],
        },
        more=["sample.txt"],
        worker="large-cpu",
    )


@stage(group="distillation")
def score(
    config: TrainingConfig, merge_translated: Corpus | None, train_backwards: Model | None
) -> Output | None:
    """The backwards model's log-probability per token of every distilled pair; split, scored, collected.

    Only for `experiment.filter: ce`.
    """
    if merge_translated is None or train_backwards is None or config.experiment.filter == "none":
        return None
    family, parts = f"score-{config.pair}", config.taskcluster.split_chunks
    pairs = split_pairs(family, parts, merge_translated.trg, merge_translated.src)
    scored = [
        step(
            "pipeline.cefilter.score",
            label=f"{family}-{i}/{parts}",
            inputs={"model": train_backwards, "model_source": source, "model_target": target},
            outputs=("scores.zst", "stats.json"),
            worker="gpu",
            resumable=True,
            repeatable=False,
            attempts=RESUMED_ATTEMPTS,
        )["scores.zst"]
        for i, (source, target) in enumerate(pairs, start=1)
    ]
    return collect(family, "scores.zst", scored, merge_translated.trg)


@stage(group="distillation")
def cefilter(config: TrainingConfig, merge_translated: Corpus | None, score: Output | None) -> Corpus:
    """The distilled corpus without the five per cent of pairs that the backwards model finds least likely.

    With `experiment.filter: none` all of it. An earlier run's is fetched, as it is, where it is given.
    """
    fetched = fetch_corpus(config, "distillation")
    if fetched:
        return fetched
    assert merge_translated is not None  # it is made where it is not fetched
    if config.experiment.filter == "none":
        return merge_translated
    return corpus_step(
        config,
        "pipeline.cefilter.filter",
        label=f"cefilter-{config.pair}",
        args={"drop": DROPPED_SHARE},
        inputs={**merge_translated.sides, "scores": score},
    )
