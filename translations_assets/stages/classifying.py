"""Scores of cleaned text: Bicleaner-AI's of parallel text, Monocleaner's of text in one language.

A dataset whose threshold is 0 is not scored; it goes on as it is. Scoring a dataset and dropping what does
not exceed the threshold are steps of their own, so that another threshold scores nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from translations_assets.config.languages import language
from translations_assets.config.schema import Thresholds, TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Folder, Output, RepoFile
from translations_assets.stages.building import GPU_ATTEMPTS
from translations_assets.stages.handles import CleanMono, Corpus, Mono, corpus_files, corpus_of
from translations_assets.stages.importing import DOWNLOAD_ATTEMPTS

BICLEANER = RepoFile("requirements/bicleaner.lock")
MONOCLEANER = RepoFile("requirements/monocleaner.lock")
# What the program reads of Bicleaner-AI's model.
MODEL_FILES = (
    *("config.json", "metadata.yaml", "sentencepiece.bpe.model", "special_tokens_map.json"),
    *("tf_model.h5", "tokenizer.json", "tokenizer_config.json"),
)
SCORED = ("scores.zst", "stats.json")


@stage(group="corpus", formerly=("corpus-clean-parallel-fetch-bicleaner-model",))
def bicleaner_model(config: TrainingConfig) -> Folder | None:
    """The model of Bicleaner-AI for the languages, or else the one of English and 49 others."""
    if not any(
        _threshold(config.experiment.bicleaner, dataset.short_name) for dataset in config.datasets.train
    ):
        return None
    src, trg = config.experiment.src, config.experiment.trg
    fetched = step(
        "pipeline.clean.fetch_bicleaner_model",
        label=f"bicleaner-model-{src}-{trg}",
        args={"src": language(src).bicleaner, "trg": language(trg).bicleaner},
        outputs=(*MODEL_FILES, "model.json"),
        attempts=DOWNLOAD_ATTEMPTS,
    )
    return fetched.folder(*MODEL_FILES)


@stage(group="corpus", formerly=("corpus-clean-parallel-bicleaner-ai", "bicleaner-ai"))
def bicleaner(
    config: TrainingConfig, clean_corpus: list[Corpus], bicleaner_model: Folder | None
) -> list[Corpus]:
    """The cleaned parallel datasets without the pairs that Bicleaner-AI does not take for translations."""
    if bicleaner_model is None:
        return clean_corpus
    return [_filter_corpus(config, corpus, bicleaner_model) for corpus in clean_corpus]


@stage(group="corpus", formerly=("corpus-clean-mono",))
def monocleaner(config: TrainingConfig, clean_mono: CleanMono) -> CleanMono:
    """The cleaned monolingual datasets without the lines that Monocleaner does not find fluent."""
    experiment = config.experiment
    return CleanMono(
        _filter_monos("src", experiment.src, experiment.monocleaner.mono_src, clean_mono.src),
        _filter_monos("trg", experiment.trg, experiment.monocleaner.mono_trg, clean_mono.trg),
    )


def _threshold(thresholds: Thresholds, short_name: str) -> float:
    return thresholds.dataset_thresholds.get(short_name, thresholds.default_threshold)


def _filter_corpus(config: TrainingConfig, corpus: Corpus, model: Folder) -> Corpus:
    threshold = _threshold(config.experiment.bicleaner, corpus.short_name)
    if not threshold:
        return corpus
    src, trg = config.experiment.src, config.experiment.trg
    name = f"{corpus.short_name}-{src}-{trg}"
    scored = step(
        "pipeline.clean.score_bicleaner",
        label=f"bicleaner-ai-score-{name}",
        args={"src": language(src).bicleaner, "trg": language(trg).bicleaner},
        inputs={**corpus.sides, "model": model, "bicleaner_lock": BICLEANER},
        outputs=SCORED,
        worker="gpu",
        resumable=True,
        repeatable=False,  # the last digit depends on the processor
        attempts=GPU_ATTEMPTS,
    )
    filtered = step(
        "pipeline.clean.filter_parallel",
        label=f"bicleaner-ai-{name}",
        args={"src": src, "trg": trg, "threshold": threshold},
        inputs={**corpus.sides, "scores": scored["scores.zst"]},
        outputs=corpus_files(src, trg, "scores.zst"),
    )
    return replace(corpus_of(filtered, src, trg, corpus.dataset), scores=filtered["scores.zst"])


def _filter_monos(side: str, lang: str, thresholds: Thresholds, monos: Sequence[Mono]) -> list[Mono]:
    if not any(_threshold(thresholds, mono.short_name) for mono in monos):
        return list(monos)
    model = step(
        "pipeline.clean.fetch_monocleaner_model",
        label=f"monocleaner-model-{side}-{lang}",
        args={"lang": language(lang).iso639_1},
        outputs=("model.tgz", "model.json"),
        attempts=DOWNLOAD_ATTEMPTS,
    )
    return [
        _filter_mono(f"{side}-{mono.short_name}-{lang}", lang, threshold, mono, model["model.tgz"])
        if (threshold := _threshold(thresholds, mono.short_name))
        else mono
        for mono in monos
    ]


def _filter_mono(name: str, lang: str, threshold: float, mono: Mono, model: Output) -> Mono:
    scored = step(
        "pipeline.clean.score_monocleaner",
        label=f"monocleaner-score-{name}",
        inputs={"text": mono.text, "model": model, "monocleaner_lock": MONOCLEANER},
        outputs=SCORED,
        worker="large-cpu",
        resumable=True,
    )
    filtered = step(
        "pipeline.clean.filter_mono",
        label=f"monocleaner-{name}",
        args={"lang": lang, "threshold": threshold},
        inputs={"text": mono.text, "scores": scored["scores.zst"]},
        outputs=(f"mono.{lang}.zst", "scores.zst", "stats.json"),
    )
    return Mono(filtered[f"mono.{lang}.zst"], mono.dataset)
