"""The filter files that clean a dataset, by the mode of cleaning, the languages and the dataset's name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from translations_assets.common.settings import repository_root
from translations_assets.config.datasets import Dataset
from translations_assets.graph.step import RepoFile

ROOT = repository_root()
FILTERS = "pipeline/clean/filters"
DEFAULT = "default.filters.json"
PATTERNS = "remove_frequent_patterns.txt"  # where a filter names no other file

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
    {
        "address_mismatch",
        "alpha_ratio",
        "alphabet_ratio",
        "currency_mismatch",
        "deescape-special-chars",
        "desegment",
        "detokenizer",
        "fasttext_filter",
        "fix_wiki",
        "identical",
        "length_ratio",
        "max_length",
        "max_word_length",
        "normalize_whitespace",
        "num_mismatch",
        "number_mismatch",
        "opus.RegExpFilter",
        "opus.RegExpSub",
        "regexp",
        "remove_empty_lines",
        "remove_frequent_patterns",
        "sed",
        "src_trg_ratio",
        "untranslated",
        "url_mismatch",
    }
)
PROGRAMS = {"regexp": "perl", "sed": "sed"}  # of the system, which filters run


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
    """The files of frequent patterns that filters take; they are next to the default filter file."""
    takers = (
        entry for file in filters for entry in _entries(file) if entry["filter"] == "remove_frequent_patterns"
    )
    names = (taker["parameters"].get("PATTERN_FILE", PATTERNS).rpartition("/")[2] for taker in takers)
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
