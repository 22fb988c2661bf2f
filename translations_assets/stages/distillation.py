"""Distillation: the teachers' translations, scored by the backwards model and filtered."""

from __future__ import annotations

from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Output
from translations_assets.stages.building import GPU_ATTEMPTS, collect, split_pairs, translate_in_chunks
from translations_assets.stages.continuation import fetch_corpus
from translations_assets.stages.handles import (
    CONVERTED_FILES,
    Corpus,
    Model,
    Mono,
    corpus_files,
    corpus_of,
)

SEED = 42
DROPPED_SHARE = 0.05


@stage(group="distillation")
def convert_teacher(config: TrainingConfig, train_teacher: list[Model]) -> Model | None:
    """The teacher in CTranslate2's form, where the config decodes with it."""
    if config.experiment.teacher_decoder != "ctranslate2" or not train_teacher:
        return None
    (teacher,) = train_teacher
    converted = step(
        "pipeline.translate.convert",
        label=f"convert-teacher-{config.experiment.src}-{config.experiment.trg}",
        inputs={"model": teacher},
        outputs=(*CONVERTED_FILES, "stats.json"),
    )
    return converted.folder(*CONVERTED_FILES)


@stage(
    group="distillation",
    formerly=(
        "distillation-parallel-src-chunk",
        "distillation-parallel-src-translate",
        "distillation-parallel-src-extract-best",
        "distillation-parallel-src-dechunk-translations",
        "split-corpus",
        "extract-best",
        "collect-corpus",
    ),
)
def translate_corpus(
    config: TrainingConfig,
    merge_corpus: Corpus | None,
    train_teacher: list[Model],
    convert_teacher: Model | None,
) -> Corpus | None:
    """The parallel source text with the teachers' best translation by chrF against the reference."""
    if merge_corpus is None:
        return None
    text, references = merge_corpus.src, merge_corpus.trg
    return _translate(config, "corpus", text, train_teacher, convert_teacher, references)


@stage(
    group="distillation",
    formerly=(
        "split-mono",
        "distillation-mono-src-chunk",
        "distillation-mono-src-translate",
        "distillation-mono-src-dechunk-translations",
        "split-mono-src",
        "collect-mono-src",
    ),
)
def translate_mono_src(
    config: TrainingConfig,
    merge_mono_src: Mono | None,
    train_teacher: list[Model],
    convert_teacher: Model | None,
) -> Corpus | None:
    """Mono source text with the teachers' translation."""
    if merge_mono_src is None:
        return None
    return _translate(config, "mono-src", merge_mono_src.text, train_teacher, convert_teacher)


@stage(group="distillation", formerly=("corpus-merge-distillation",))
def merge_translated(
    config: TrainingConfig,
    translate_corpus: Corpus | None,
    translate_mono_src: Corpus | None,
    dataset_devtest: list[Corpus],
    dataset_test: list[Corpus],
) -> Corpus | None:
    """The distilled corpus, shuffled, without duplicates and without any line of a dev or test set."""
    if translate_corpus is None:
        return None
    src, trg = config.experiment.src, config.experiment.trg
    held_out = dataset_devtest + dataset_test
    merged = step(
        "pipeline.clean.merge_translated",
        label=f"merge-translated-{src}-{trg}",
        args={"src": src, "trg": trg, "seed": SEED},
        inputs={
            "corpus_src": translate_corpus.src,
            "corpus_trg": translate_corpus.trg,
            "mono_src": translate_mono_src.src if translate_mono_src else None,
            "mono_trg": translate_mono_src.trg if translate_mono_src else None,
            "held_out_src": [corpus.src for corpus in held_out],
            "held_out_trg": [corpus.trg for corpus in held_out],
        },
        outputs=corpus_files(src, trg, "sample.txt"),
        worker="large-cpu",
    )
    return corpus_of(merged, src, trg)


@stage(group="distillation", formerly=("distillation-parallel-src-translations-score",))
def score(
    config: TrainingConfig, merge_translated: Corpus | None, train_backwards: Model | None
) -> Output | None:
    """The backwards model's log-probability per token of every distilled pair; split, scored, collected."""
    if merge_translated is None or train_backwards is None:
        return None
    pair = f"{config.experiment.src}-{config.experiment.trg}"
    parts = config.taskcluster.split_chunks
    pairs = split_pairs(f"score-{pair}", parts, merge_translated.trg, merge_translated.src)
    scored = [
        step(
            "pipeline.cefilter.score",
            label=f"score-{pair}-{i}/{parts}",
            inputs={"model": train_backwards, "model_source": source, "model_target": target},
            outputs=("scores.zst", "stats.json"),
            worker="gpu",
            repeatable=False,
            attempts=GPU_ATTEMPTS,
        )["scores.zst"]
        for i, (source, target) in enumerate(pairs, start=1)
    ]
    return collect(f"score-{pair}", "scores.zst", scored, merge_translated.trg)


@stage(group="distillation", formerly=("distillation-corpus-final-filtering", "continuation-corpus"))
def cefilter(config: TrainingConfig, merge_translated: Corpus | None, score: Output | None) -> Corpus:
    """The distilled corpus without the five per cent of pairs that the backwards model finds least likely.

    An earlier run's is fetched, as it is, where it is given.
    """
    fetched = fetch_corpus(config, "distillation")
    if fetched:
        return fetched
    assert merge_translated is not None  # it is made where it is not fetched
    src, trg = config.experiment.src, config.experiment.trg
    filtered = step(
        "pipeline.cefilter.filter",
        label=f"cefilter-{src}-{trg}",
        args={"src": src, "trg": trg, "drop": DROPPED_SHARE},
        inputs={**merge_translated.sides, "scores": score},
        outputs=corpus_files(src, trg),
    )
    return corpus_of(filtered, src, trg)


def _translate(
    config: TrainingConfig,
    family: str,
    text: Output,
    teachers: list[Model],
    converted: Model | None,
    references: Output | None = None,
) -> Corpus:
    """A text with the teachers' translation, which is called `corpus` or `mono` in files."""
    translated = translate_in_chunks(
        config,
        family=family,
        name=f"{family.partition('-')[0]}.{config.experiment.trg}.zst",
        text=text,
        models=teachers,
        converted=converted,
        decoding="teacher",
        args=config.marian_args.decoding_teacher,
        references=references,
    )
    return Corpus(text, translated)
