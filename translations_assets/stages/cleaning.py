"""Cleaning of datasets: which filters, and scores of Bicleaner-AI and Monocleaner.

A dataset whose threshold is 0 is not scored; it goes on as it is. Scoring a dataset and dropping what does
not exceed the threshold are steps of their own, so that another threshold scores nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from translations_assets.config.cleaning import Thresholds
from translations_assets.config.languages import Language
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Folder, Output, RepoFile
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS
from translations_assets.stages.filter_files import (
    FILTERS,
    filter_files,
    model_name,
    mono_filter_files,
    needs_opuscleaner,
    pattern_files,
    programs,
)
from translations_assets.stages.handles import RESUMED_ATTEMPTS, CleanMono, Corpora, Corpus, Mono, corpus_step
from translations_assets.stages.languages import Identifying, opuscleaner_code

OPUSCLEANER = RepoFile("requirements/opuscleaner.lock")
MAX_TOKENS = 200  # of a line of monolingual text: words, or characters of Chinese, Japanese and Korean
MAX_CHARACTERS = 600  # of other languages without spaces, three of whose characters make a word
CHARACTERS_COUNT = ("zh", "ja", "ko")
BICLEANER = RepoFile("requirements/bicleaner.lock")
MONOCLEANER = RepoFile("requirements/monocleaner.lock")
# What the program reads of Bicleaner-AI's model.
BICLEANER_FILES = (
    *("config.json", "metadata.yaml", "sentencepiece.bpe.model", "special_tokens_map.json"),
    *("tf_model.h5", "tokenizer.json", "tokenizer_config.json"),
)
SCORED = ("scores.zst", "stats.json")


@stage(group="corpus")
def clean_corpus(config: TrainingConfig, dataset_train: Corpora) -> Corpora:
    """The parallel training datasets without the pairs that rules or language identification reject."""
    identifying = Identifying(config, "corpus")
    return [clean_parallel_dataset(config, corpus, identifying) for corpus in dataset_train]


@stage(group="corpus")
def clean_mono(
    config: TrainingConfig, dataset_mono_src: list[Mono], dataset_mono_trg: list[Mono]
) -> CleanMono:
    """The monolingual datasets without the lines that rules or language identification reject."""
    identifying = Identifying(config, "mono")
    return CleanMono(
        [clean_mono_dataset(config, "src", config.source, mono, identifying) for mono in dataset_mono_src],
        [clean_mono_dataset(config, "trg", config.target, mono, identifying) for mono in dataset_mono_trg],
    )


@stage(group="corpus")
def bicleaner_model(config: TrainingConfig) -> Folder | None:
    """The model of Bicleaner-AI for the languages, or else the one of English and 49 others."""
    thresholds = [
        _threshold(config.experiment.bicleaner, dataset.short_name) for dataset in config.datasets.train
    ]
    if config.datasets.finetune:
        thresholds.append(config.finetuning.bicleaner_threshold)
    if not any(thresholds):
        return None
    src, trg = config.experiment.src, config.experiment.trg
    fetched = step(
        "pipeline.clean.fetch_bicleaner_model",
        label=f"bicleaner-model-{src}-{trg}",
        args={"src": config.source.bicleaner, "trg": config.target.bicleaner},
        outputs=(*BICLEANER_FILES, "model.json"),
        attempts=DOWNLOAD_ATTEMPTS,
    )
    return fetched.folder(*BICLEANER_FILES)


@stage(group="corpus")
def bicleaner(config: TrainingConfig, clean_corpus: Corpora, bicleaner_model: Folder | None) -> Corpora:
    """The cleaned parallel datasets without the pairs that Bicleaner-AI does not take for translations."""
    if bicleaner_model is None:
        return clean_corpus
    thresholds = config.experiment.bicleaner
    return [
        filter_by_bicleaner(config, corpus, bicleaner_model, threshold)
        if (threshold := _threshold(thresholds, corpus.short_name))
        else corpus
        for corpus in clean_corpus
    ]


@stage(group="corpus")
def monocleaner(config: TrainingConfig, clean_mono: CleanMono) -> CleanMono:
    """The cleaned monolingual datasets without the lines that Monocleaner does not find fluent."""
    experiment = config.experiment
    return CleanMono(
        _filter_monos("src", config.source, experiment.monocleaner.mono_src, clean_mono.src),
        _filter_monos("trg", config.target, experiment.monocleaner.mono_trg, clean_mono.trg),
    )


def clean_parallel_dataset(
    config: TrainingConfig, corpus: Corpus, identifying: Identifying, name: str = ""
) -> Corpus:
    """The step that cleans a parallel dataset by the filters of a file; `name` is in labels, if given."""
    source, target = config.source, config.target
    dataset, mode = corpus.dataset, config.experiment.opuscleaner_mode
    assert dataset  # only datasets are cleaned
    filters = filter_files(mode, source.code, target.code, dataset)
    found = [identifying.of_pairs(spoken, model_name(filters)) for spoken in (source, target)]
    return corpus_step(
        config,
        "pipeline.clean.clean_parallel",
        label=f"clean-corpus-{name or dataset.short_name}-{config.pair}",
        dataset=dataset,
        args={
            "src_script": source.script,
            "trg_script": target.script,
            "src_code": opuscleaner_code(source),
            "trg_code": opuscleaner_code(target),
            "src_labels": found[0].labels,
            "trg_labels": found[1].labels,
            "believe_always": identifying.always,
            "fix_currencies": source.script == target.script == "Latin" and mode != "legacy",
        },
        inputs={
            **corpus.sides,
            "filters": filters,
            "alphabets": RepoFile(f"{FILTERS}/alphabets.json"),
            "words": RepoFile(f"{FILTERS}/words.json"),
            "currencies": RepoFile(f"{FILTERS}/currencies.json"),
            "patterns": pattern_files(filters),
            "src_language_model": found[0].model,
            "trg_language_model": found[1].model,
            "opuscleaner_lock": OPUSCLEANER if needs_opuscleaner(filters) else None,
        },
        worker="large-cpu",
        programs=programs(filters),
    )


def clean_mono_dataset(
    config: TrainingConfig, side: str, spoken: Language, mono: Mono, identifying: Identifying
) -> Mono:
    """The steps that clean a monolingual dataset: by the filters of a file, if it has one, and by rules."""
    lang, found = spoken.code, identifying.of_text(spoken)
    mono = _filtered_by_file(config.experiment.opuscleaner_mode, side, spoken, mono)
    clean = step(
        "pipeline.clean.clean_mono",
        label=f"clean-mono-{side}-{mono.short_name}-{lang}",
        args={
            "lang": lang,
            "script": spoken.script,
            "alphabet": opuscleaner_code(spoken),
            "unspaced": not spoken.spaced,
            "max_tokens": max_tokens(spoken),
            "labels": found.labels,
            "believe_always": identifying.always,
        },
        inputs={
            "text": mono.text,
            "alphabets": RepoFile(f"{FILTERS}/alphabets.json"),
            "language_model": found.model,
        },
        outputs=(f"mono.{lang}.zst", "stats.json"),
        worker="large-cpu",
    )
    return Mono(clean[f"mono.{lang}.zst"], mono.dataset)


def _filtered_by_file(mode: str, side: str, spoken: Language, mono: Mono) -> Mono:
    assert mono.dataset  # only datasets are cleaned
    filters = mono_filter_files(mode, spoken.code, mono.dataset)
    if not filters:
        return mono
    name = f"mono.{spoken.code}.zst"
    filtered = step(
        "pipeline.clean.apply_mono_filters",
        label=f"filters-mono-{side}-{mono.short_name}-{spoken.code}",
        args={"lang": spoken.code, "code": opuscleaner_code(spoken)},
        inputs={
            "text": mono.text,
            "filters": filters[0],
            "opuscleaner_lock": OPUSCLEANER if needs_opuscleaner(filters) else None,
        },
        outputs=(name, "stats.json"),
        worker="large-cpu",
        programs=programs(filters),
    )
    return replace(mono, text=filtered[name])


def max_tokens(spoken: Language) -> int:
    """The longest line of monolingual text: in words, or characters where there are no spaces."""
    counted = spoken.spaced or spoken.iso639_1 in CHARACTERS_COUNT
    return MAX_TOKENS if counted else MAX_CHARACTERS


def _threshold(thresholds: Thresholds, short_name: str) -> float:
    return thresholds.dataset_thresholds.get(short_name, thresholds.default_threshold)


def filter_by_bicleaner(
    config: TrainingConfig, corpus: Corpus, model: Folder, threshold: float, name: str = ""
) -> Corpus:
    """Score a dataset by Bicleaner-AI, and keep what exceeds the threshold; `name` is in labels, if given."""
    label = f"{name or corpus.short_name}-{config.pair}"
    scored = step(
        "pipeline.clean.score_bicleaner",
        label=f"bicleaner-ai-score-{label}",
        args={"src": config.source.bicleaner, "trg": config.target.bicleaner},
        inputs={**corpus.sides, "model": model, "bicleaner_lock": BICLEANER},
        outputs=SCORED,
        worker="gpu",
        resumable=True,
        repeatable=False,  # the last digit depends on the processor
        attempts=RESUMED_ATTEMPTS,
    )
    filtered = corpus_step(
        config,
        "pipeline.clean.filter_parallel",
        label=f"bicleaner-ai-{label}",
        dataset=corpus.dataset,
        args={"threshold": threshold},
        inputs={**corpus.sides, "scores": scored["scores.zst"]},
        more=["scores.zst"],
    )
    return replace(filtered, scores=filtered.src.step["scores.zst"])


def _filter_monos(side: str, spoken: Language, thresholds: Thresholds, monos: Sequence[Mono]) -> list[Mono]:
    lang = spoken.code
    if not any(_threshold(thresholds, mono.short_name) for mono in monos):
        return list(monos)
    model = step(
        "pipeline.clean.fetch_monocleaner_model",
        label=f"monocleaner-model-{side}-{lang}",
        args={"lang": spoken.iso639_1},
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
        attempts=RESUMED_ATTEMPTS,
    )
    filtered = step(
        "pipeline.clean.filter_mono",
        label=f"monocleaner-{name}",
        args={"lang": lang, "threshold": threshold},
        inputs={"text": mono.text, "scores": scored["scores.zst"]},
        outputs=(f"mono.{lang}.zst", "scores.zst", "stats.json"),
    )
    return Mono(filtered[f"mono.{lang}.zst"], mono.dataset)
