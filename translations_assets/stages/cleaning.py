"""Cleaning of datasets: which filters, and scores of Bicleaner-AI and Monocleaner.

A dataset whose threshold is 0 is not scored; it goes on as it is. Scoring a dataset and dropping what does
not exceed the threshold are steps of their own, so that another threshold scores nothing again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from translations_assets.common.settings import repository_root
from translations_assets.config.cleaning import Thresholds
from translations_assets.config.datasets import Dataset
from translations_assets.config.languages import Language
from translations_assets.config.schema import TrainingConfig
from translations_assets.graph.stage import stage, step
from translations_assets.graph.step import Folder, Output, RepoFile
from translations_assets.stages.continuation import DOWNLOAD_ATTEMPTS
from translations_assets.stages.handles import RESUMED_ATTEMPTS, CleanMono, Corpora, Corpus, Mono, corpus_step
from translations_assets.stages.languages import Identifying, opuscleaner_code

ROOT = repository_root()
FILTERS = "pipeline/clean/filters"
DEFAULT = "default.filters.json"

# The mode `legacy`, the cleaning of 2024: repairs, what is wrong with single datasets, rules.
LEGACY = ("legacy/repairs.filters.json", "legacy/rules.filters.json")
# By dataset, or dataset and language: what its text needs. OPUS and mtdata have most of them.
FIXES = {
    "dogc-v2": "detokenize",
    "ecb-v1": "detokenize",
    "jw300-v1": "detokenize",
    "neulab-tedtalks-train-1": "detokenize",
    "neulab-tedtalks-v1": "detokenize",
    "setimes-v2": "detokenize",
    "dogc-v2.ca": "catalan",
    "dogc-v2.es": "spanish",
    "neulab-tedtalks-train-1.ro": "romanian",
    "neulab-tedtalks-v1.ro": "romanian",
    "unpc-v1.0.en": "english",
    "unpc-v1.0.fr": "french",
    "elrc-luxembourg.lu-1": "markup",
    "elrc-638-luxembourg.lu-v1": "markup",
}

# Filters of which there is a fast version; others are run by OpusCleaner, in an environment of its own.
FAST = frozenset(
    (
        *("alpha_ratio", "alphabet_ratio", "currency_mismatch", "deescape-special-chars", "detokenizer"),
        *(
            "address_mismatch",
            "desegment",
            "fasttext_filter",
            "length_ratio",
            "number_mismatch",
            "untranslated",
        ),
        *("fix_wiki", "identical", "max_length", "max_word_length", "normalize_whitespace", "num_mismatch"),
        *("opus.RegExpFilter", "opus.RegExpSub", "regexp", "remove_empty_lines", "remove_frequent_patterns"),
        *("sed", "src_trg_ratio", "url_mismatch"),
    )
)
OPUSCLEANER = RepoFile("requirements/opuscleaner.lock")
PROGRAMS = {"regexp": "perl", "sed": "sed"}  # of the system, which filters run
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


def filter_files(mode: str, src: str, trg: str, dataset: Dataset) -> list[RepoFile]:
    """The filter files of a dataset, which run one after the other; all modes but `legacy` have one."""
    if mode != "legacy":
        return [RepoFile(f"{FILTERS}/{_filter_file(mode, src, trg, dataset)}")]
    name = _bare_name(dataset)
    fixes = [FIXES[key] for key in (f"{name}.{src}", f"{name}.{trg}", name) if key in FIXES]
    repairs, rules = LEGACY
    names = (repairs, *(f"legacy/{fix}.filters.json" for fix in fixes), rules)
    return [RepoFile(f"{FILTERS}/{name}") for name in names]


def mono_filter_files(mode: str, lang: str, dataset: Dataset) -> list[RepoFile]:
    """The filter file of a monolingual dataset, if there is one; `upstream` and `legacy` have none.

    They are in the folder `mono`, by the names of those of pairs, with a folder for each language.
    """
    places = {"custom": (*_own_files(lang, dataset), DEFAULT), "defaults": (DEFAULT,)}.get(mode, ())
    found = (f"{FILTERS}/mono/{place}" for place in places if (ROOT / FILTERS / "mono" / place).is_file())
    return [RepoFile(path) for path in found][:1]


def _filter_file(mode: str, src: str, trg: str, dataset: Dataset) -> str:
    """A dataset's own file, else the language pair's, else the default; the last one with mode `defaults`."""
    folder = "upstream/" if mode == "upstream" else ""
    if mode != "defaults":
        for path in _own_files(f"{src}-{trg}", dataset):
            if (ROOT / FILTERS / folder / path).is_file():
                return folder + path
    return folder + DEFAULT


def _own_files(languages: str, dataset: Dataset) -> Iterator[str]:
    """Places of files of the dataset or its languages, in the order in which they are looked for.

    A file of its own is looked for in the languages' folder, then, if that has no default, in the common one;
    its name is the dataset's alias or short name, or the key as OpusCleaner writes it, opus_UNPC-v1.0.
    """
    names = [f"{name}.filters.json" for name in _names(dataset)]
    yield from (*(f"{languages}/{name}" for name in names), f"{languages}/{DEFAULT}", *names)


def _names(dataset: Dataset) -> Iterator[str]:
    yield dataset.short_name
    if "://" not in dataset.name and not dataset.number:
        head, separator, tail = dataset.key.rpartition("/" if "/" in dataset.key else "_")
        yield from (dataset.key, f"{head}{'-' if separator else ''}{tail}")


def _bare_name(dataset: Dataset) -> str:
    """A dataset's name, alike for OPUS and mtdata: opus_SETIMES/v2, mtdata_OPUS-setimes-v2-eng-ron."""
    name = dataset.name.lower()
    if dataset.provider == "mtdata":
        name = name.rsplit("-", 2)[0].removeprefix("opus-")
    return re.sub("[^a-z0-9.]+", "-", name)


def pattern_files(filters: Sequence[RepoFile]) -> Sequence[RepoFile]:
    """The files of frequent patterns that filter files name; they are next to the default one."""
    names = (given.rpartition("/")[2] for given in _parameters(filters, "PATTERN_FILE"))
    return [RepoFile(f"{FILTERS}/{name}") for name in dict.fromkeys(names)]


def model_name(filters: Sequence[RepoFile]) -> str:
    """The model that filter files tell languages apart by; empty when they do not."""
    return next(_parameters(filters, "FASTTEXT_MODEL_TYPE"), "")


def needs_opuscleaner(filters: Sequence[RepoFile]) -> bool:
    """True if filter files have filters that only OpusCleaner itself has."""
    return not FAST.issuperset(entry["filter"] for file in filters for entry in _entries(file))


def programs(filters: Sequence[RepoFile]) -> Sequence[str]:
    """The programs of the system that the filters of files run."""
    names = {entry["filter"] for file in filters for entry in _entries(file)}
    return [program for name, program in PROGRAMS.items() if name in names]


def _parameters(filters: Sequence[RepoFile], name: str) -> Iterator[str]:
    for file in filters:
        for entry in _entries(file):
            if name in entry["parameters"]:
                yield entry["parameters"][name]


@cache
def _entries(filters: RepoFile) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((ROOT / filters.path).read_text(encoding="utf-8"))["filters"]
    return entries


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
