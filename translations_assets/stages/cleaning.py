"""The steps that clean a dataset: which filters, which model that tells languages apart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from translations_assets.config.datasets import Dataset, parse_dataset
from translations_assets.config.errors import ConfigError
from translations_assets.config.languages import Language, language
from translations_assets.config.schema import TrainingConfig
from translations_assets.stages.handles import Corpus, Mono, corpus_files, corpus_of
from translations_assets.steps.stage import step
from translations_assets.steps.step import Output, RepoFile

ROOT = Path(__file__).resolve().parents[2]
FILTERS = "pipeline/clean/filters"
DEFAULT = "default.filters.json"
LEGACY = "legacy.filters.json"

# fastText's models by the names that OpusCleaner gives them.
MODELS = {
    "small": "https://dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz",
    "large": "https://dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.bin",
    "nllb": "https://dl.fbaipublicfiles.com/nllb/lid/lid218e.bin",
    "openlid-v2": "https://huggingface.co/laurievb/OpenLID-v2/resolve/main/model.bin",
}
DOWNLOAD_ATTEMPTS = 6  # with their pauses a minute, on top of what the script itself tries
# Filters of which there is a fast version; others are run by OpusCleaner, in an environment of its own.
FAST = frozenset(
    (
        *("alpha_ratio", "currency_mismatch", "deescape-special-chars", "detokenizer", "fasttext_filter"),
        *("fix_wiki", "identical", "max_length", "max_word_length", "normalize_whitespace", "num_mismatch"),
        *("opus.RegExpFilter", "opus.RegExpSub", "regexp", "remove_empty_lines", "remove_frequent_patterns"),
        *("sed", "src_trg_ratio", "url_mismatch"),
    )
)
OPUSCLEANER = RepoFile("requirements/opuscleaner.lock")
# Labels of lid.176 that are not the language's ISO 639-1 code.
OTHER_LABELS = {"nb": ("no",)}


def clean_parallel_dataset(config: TrainingConfig, corpus: Corpus) -> Corpus:
    """The step that cleans a parallel dataset by the filters of a file."""
    src, trg = config.experiment.src, config.experiment.trg
    source, target = language(src), language(trg)
    dataset = parse_dataset(corpus.name)
    label = f"clean-corpus-{dataset.slug}-{src}-{trg}"
    filters = filter_file(config.experiment.opuscleaner_mode, src, trg, dataset)
    clean = step(
        "pipeline.clean.clean_parallel",
        label=label,
        args={
            "src": src,
            "trg": trg,
            "src_script": source.script,
            "trg_script": target.script,
            "src_code": opuscleaner_code(source),
            "trg_code": opuscleaner_code(target),
            "src_labels": labels(source),
            "trg_labels": labels(target),
            "fix_currencies": source.script == target.script == "Latin" and not _is_legacy(filters),
        },
        inputs={
            "corpus_src": corpus.src,
            "corpus_trg": corpus.trg,
            "filters": filters,
            "alphabets": RepoFile(f"{FILTERS}/alphabets.json"),
            "currencies": RepoFile(f"{FILTERS}/currencies.json"),
            "patterns": pattern_files(filters),
            "language_model": _language_model(config, label, model_name(filters)),
            "opuscleaner_lock": OPUSCLEANER if needs_opuscleaner(filters) else None,
        },
        outputs=corpus_files(src, trg),
        worker="large-cpu",
    )
    return corpus_of(clean, src, trg, corpus.name)


def clean_mono_dataset(config: TrainingConfig, side: str, lang: str, mono: Mono) -> Mono:
    """The step that cleans a monolingual dataset by rules."""
    spoken = language(lang)
    label = f"clean-mono-{side}-{parse_dataset(mono.name).slug}-{lang}"
    # What upstream uses: NLLB's model takes much simplified Chinese for traditional.
    model = "openlid-v2" if spoken.iso639_1 == "zh" else "nllb"
    clean = step(
        "pipeline.clean.clean_mono",
        label=label,
        args={
            "lang": lang,
            "script": spoken.script,
            "unspaced": not spoken.spaced,
            "labels": [spoken.flores, *({spoken.hplt} - {spoken.flores})],
        },
        inputs={"text": mono.text, "language_model": _language_model(config, label, model)},
        outputs=(f"mono.{lang}.zst", "stats.json"),
        worker="large-cpu",
    )
    return Mono(clean[f"mono.{lang}.zst"], mono.name)


def filter_file(mode: str, src: str, trg: str, dataset: Dataset) -> RepoFile:
    """The filter file of a dataset: in `custom` mode its own, else the language pair's, else the default.

    A file of its own is looked for in the pair's folder, then, if the pair has no default, in the common one;
    its name is the key, or as OpusCleaner writes it: opus_UNPC/v1.0 is opus_UNPC-v1.0.
    """
    if mode == "legacy":
        return RepoFile(f"{FILTERS}/{LEGACY}")
    if mode == "custom":
        pair = f"{src}-{trg}"
        names = [f"{name}.filters.json" for name in _names(dataset.key)]
        for path in (*(f"{pair}/{name}" for name in names), f"{pair}/{DEFAULT}", *names):
            if (ROOT / FILTERS / path).is_file():
                return RepoFile(f"{FILTERS}/{path}")
    return RepoFile(f"{FILTERS}/{DEFAULT}")


def _names(key: str) -> tuple[str, str]:
    head, separator, tail = key.rpartition("/" if "/" in key else "_")
    return key, f"{head}-{tail}" if separator else key


def _is_legacy(filters: RepoFile) -> bool:
    return filters.name == LEGACY


def pattern_files(filters: RepoFile) -> Sequence[RepoFile]:
    """The files of frequent patterns that a filter file names; they stand beside the default one."""
    names = (given.rpartition("/")[2] for given in _parameters(filters, "PATTERN_FILE"))
    return [RepoFile(f"{FILTERS}/{name}") for name in dict.fromkeys(names)]


def model_name(filters: RepoFile) -> str:
    """The model that a filter file tells languages apart by; empty when it does not."""
    return next(_parameters(filters, "FASTTEXT_MODEL_TYPE"), "")


def needs_opuscleaner(filters: RepoFile) -> bool:
    """Whether a filter file has filters that only OpusCleaner itself has."""
    return not FAST.issuperset(entry["filter"] for entry in _entries(filters))


def _parameters(filters: RepoFile, name: str) -> Iterator[str]:
    for entry in _entries(filters):
        if name in entry["parameters"]:
            yield entry["parameters"][name]


@cache
def _entries(filters: RepoFile) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((ROOT / filters.path).read_text(encoding="utf-8"))["filters"]
    return entries


def opuscleaner_code(spoken: Language) -> str:
    """The code by which OpusCleaner knows a language: `zh_Hant` for zh_hant."""
    base, separator, script = spoken.code.partition("_")
    return f"{base}{separator}{script.title()}"


def labels(spoken: Language) -> Sequence[str]:
    """The labels of a language in fastText's models, whatever its script."""
    individual = (spoken.flores.partition("_")[0], spoken.hplt.partition("_")[0])
    others = OTHER_LABELS.get(spoken.code, ())
    return list(dict.fromkeys((*individual, spoken.iso639_3, spoken.iso639_1, *others)))


def _language_model(config: TrainingConfig, label: str, model: str) -> Output | None:
    """The model that tells languages apart, fetched; None where that is done offline, or not at all."""
    if config.experiment.language_identification != "fasttext" or not model:
        return None
    if model not in MODELS:
        raise ConfigError.of(f"{model!r} is no known model of fastText; write one of {', '.join(MODELS)}.")
    fetched = step(
        "pipeline.clean.fetch_model",
        label=f"{label}-language-model",
        args={"url": MODELS[model]},
        outputs=("model.bin",),
        attempts=DOWNLOAD_ATTEMPTS,
    )
    return fetched["model.bin"]
