"""Steps that several stages build: training, alignment and translation in chunks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from translations_assets.config.languages import language
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import step
from translations_assets.graph.step import Input, Output, RepoFile, Step
from translations_assets.stages.handles import (
    MODEL_FILES,
    Aligned,
    Corpus,
    Model,
    Vocab,
    aligned_files,
    aligned_of,
)

TRAIN_CONFIGS = "pipeline/train/configs"
DECODING_CONFIGS = "pipeline/translate/configs"
CUDA = RepoFile("requirements/cuda.lock")
TRAINED_WITH = "marian-args.yml"
STATE_FILES = ("last.npz", "last.optimizer.npz", "last.progress.yml")  # as in pipeline.train.continuing
TRAINING_ATTEMPTS = 10  # each goes on from the last save, so that machines may be taken away
GPU_ATTEMPTS = 5  # of a part of a text
PRIORS_SAMPLE = 1_000_000  # pairs, which eflomal holds in memory all at once


def marian_args(values: Mapping[str, Any]) -> str:
    """A section of `marian-args` as the JSON that scripts take; the order of its keys changes nothing."""
    return json.dumps(dict(values), sort_keys=True, ensure_ascii=False)


def train_model(
    config: TrainingConfig,
    *,
    label: str,
    src: str,
    trg: str,
    vocab: Vocab,
    data: Mapping[str, Input | None],
    dev: Corpus,
    model: str,
    training: str,
    curriculum: str,
    args: Mapping[str, Any],
    seed: int,
    pretrained: Model | None = None,
    goes_on: bool = False,
    tokenized: bool = True,
) -> Model:
    """A step that trains a model src→trg; `vocab` and `dev` are given in that direction.

    It begins with the weights of `pretrained`, if any, and with the options that this was trained with, over
    which `args` are laid; with `goes_on` also with what its training saved last, so that that one goes on.
    """
    spoken = language(src)
    trained = step(
        "pipeline.train.train",
        label=label,
        args={
            "src": src,
            "trg": trg,
            "marian_args": marian_args(args),
            "seed": seed,
            "best_model": config.experiment.best_model,
            "tokenized": tokenized,
            "bicameral": spoken.bicameral,
            "phonemic": spoken.phonemic,
        },
        inputs={
            **data,
            "source_vocab": vocab.src,
            "target_vocab": vocab.trg,
            "dev_src": dev.src,
            "dev_trg": dev.trg,
            "model_config": RepoFile(f"{TRAIN_CONFIGS}/model/{model}.yml"),
            "training_config": RepoFile(f"{TRAIN_CONFIGS}/training/{training}.yml"),
            "curriculum": RepoFile(f"{TRAIN_CONFIGS}/curriculum/{curriculum}.yml"),
            "pretrained": pretrained,
            "pretrained_args": trained_with(pretrained) if pretrained else None,
            "state": maker(pretrained).folder(*STATE_FILES) if pretrained and goes_on else None,
        },
        outputs=(*MODEL_FILES, TRAINED_WITH, "metrics.json", *STATE_FILES),
        worker="large-gpu",
        resumable=True,
        repeatable=False,
        attempts=TRAINING_ATTEMPTS,
    )
    return trained.folder(*MODEL_FILES)


def trained_with(model: Model) -> Output:
    """The options that a model was trained with, as its training wrote them down."""
    return maker(model)[TRAINED_WITH]


def maker(model: Model) -> Step:
    """The step that trained a model, or fetched it."""
    return model.files[MODEL_FILES[0]].step


def learn_priors(
    config: TrainingConfig, label: str, corpus: Corpus, sample_size: int = PRIORS_SAMPLE
) -> Output:
    """What a sample of a corpus tells of how its words are linked, with which its parts are aligned."""
    learned = step(
        "pipeline.alignments.priors",
        label=label,
        args={"src": config.experiment.src, "trg": config.experiment.trg, "sample_size": sample_size},
        inputs=corpus.sides,
        outputs=("corpus.priors", "stats.json"),
        repeatable=False,
    )
    return learned["corpus.priors"]


def align(config: TrainingConfig, label: str, corpus: Corpus, priors: Output) -> Aligned:
    """Tokenise and align a corpus."""
    src, trg = config.experiment.src, config.experiment.trg
    aligned = step(
        "pipeline.alignments.align",
        label=label,
        args={"src": src, "trg": trg},
        inputs={**corpus.sides, "priors": priors},
        outputs=aligned_files(src, trg),
        repeatable=False,
    )
    return aligned_of(aligned, src, trg)


def align_in_chunks(config: TrainingConfig, name: str, corpus: Corpus, priors: Output) -> Aligned:
    """Split a corpus, tokenise and align the parts with the same priors, collect them in order."""
    src, trg = config.experiment.src, config.experiment.trg
    family, parts = f"alignments-{name}-{src}-{trg}", config.taskcluster.split_chunks
    aligned = [
        align(config, f"{family}-{i}/{parts}", Corpus(*pair), priors)
        for i, pair in enumerate(split_pairs(family, parts, corpus.src, corpus.trg), start=1)
    ]
    collected = step(
        "pipeline.alignments.collect",
        label=f"collect-{family}",
        args={"src": src, "trg": trg},
        inputs={
            "tokens_src": [part.src for part in aligned],
            "tokens_trg": [part.trg for part in aligned],
            "alignments": [part.alignments for part in aligned],
            "corpus_src": corpus.src,
        },
        outputs=aligned_files(src, trg),
    )
    return aligned_of(collected, src, trg, priors)


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
    *,
    family: str,
    name: str,
    text: Output,
    models: Sequence[Model],
    decoding: str,
    args: Mapping[str, Any],
    converted: Model | None = None,
    references: Output | None = None,
) -> Output:
    """Split a text, translate the parts, collect them in order under `name`.

    Marian decodes with `models`, or CTranslate2 with the one in its form. With references the lists of n best
    are searched for the best translation by chrF.
    """
    pair = f"{config.experiment.src}-{config.experiment.trg}"
    parts = config.taskcluster.split_chunks
    split = _split(f"{family}-{pair}", parts, text, references)
    translated = []
    for i in range(1, parts + 1):
        output = "nbest.zst" if references else "translations.zst"
        chunk = step(
            "pipeline.translate.with_ctranslate2" if converted else "pipeline.translate.translate",
            label=f"translate-{family}-{pair}-{i}/{parts}",
            args={"marian_args": marian_args(args), "nbest": references is not None},
            inputs={
                **({"model": converted, "cuda_lock": CUDA} if converted else {"models": models}),
                "text": split[f"part.{i}.zst"],
                "decoding_config": RepoFile(f"{DECODING_CONFIGS}/{decoding}.yml"),
            },
            outputs=(output, "stats.json"),
            worker="gpu",
            repeatable=False,
            attempts=GPU_ATTEMPTS,
        )
        translated.append(chunk[output])
    if references:
        translated = [
            step(
                "pipeline.translate.extract_best",
                label=f"extract-best-{pair}-{i}/{parts}",
                inputs={"nbest": nbest, "references": split[f"part.{i}.ref.zst"]},
                outputs=("best.zst", "stats.json"),
            )["best.zst"]
            for i, nbest in enumerate(translated, start=1)
        ]
    return collect(f"{family}-{pair}", name, translated, text)
