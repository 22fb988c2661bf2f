"""Checks of a training config that concern several keys at once, and refusals of what is not built yet.

They look at the values as they were read, and so find what is wrong where other keys are wrong too: all
problems are told at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from translations_assets.config.datasets import Dataset, parse_dataset
from translations_assets.config.errors import ConfigError, suggestion
from translations_assets.config.languages import Language, languages

Found: TypeAlias = "Iterator[tuple[tuple[str | int, ...], str]]"

PARALLEL = ("train", "devtest", "test")
CATEGORIES = (*PARALLEL, "mono-src", "mono-trg")
DEMO_LANGUAGES = frozenset({"en", "eo"})


def check_together(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem between the keys of a config as it was read."""
    checks: tuple[Callable[[Mapping[str, Any]], Found], ...] = (
        _same_language,
        _doubles,
        _held_out_in_training,
        _languages_of_providers,
        _thresholds_without_dataset,
        _not_built,
    )
    for check in checks:
        yield from check(config)


def _at(value: Any, *path: str) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _datasets(config: Mapping[str, Any], category: str) -> Iterator[tuple[int, Dataset]]:
    """The datasets of a category that can be read at all, with their index."""
    keys = _at(config, "datasets", category)
    for index, key in enumerate(keys if isinstance(keys, list) else ()):
        try:
            yield index, parse_dataset(key)
        except (ConfigError, TypeError):
            continue  # told of by the schema


def _language(config: Mapping[str, Any], side: str) -> Language | None:
    code = _at(config, "experiment", side)
    return languages().get(code) if isinstance(code, str) else None


def _same_language(config: Mapping[str, Any]) -> Found:
    src, trg = (_at(config, "experiment", side) for side in ("src", "trg"))
    if src == trg and src is not None:
        yield ("experiment", "trg"), f"is the source language too ({src})"


def _doubles(config: Mapping[str, Any]) -> Found:
    for category in CATEGORIES:
        seen: dict[str, Dataset] = {}
        for index, dataset in _datasets(config, category):
            first = seen.setdefault(dataset.slug, dataset)
            if first is dataset:
                continue
            same = first.key == dataset.key
            message = "stands in the list twice" if same else f"has the same short name as {first.key!r}"
            yield ("datasets", category, index), f"{dataset.key!r} {message}; remove one"


def _held_out_in_training(config: Mapping[str, Any]) -> Found:
    """A set stands in one of train, devtest and test only: its variants, too, hold its sentences."""
    seen: dict[tuple[str, str], str] = {}
    for category in PARALLEL:
        for index, dataset in _datasets(config, category):
            elsewhere = seen.setdefault((dataset.provider, dataset.name), category)
            if elsewhere != category:
                message = f"{dataset.key!r} is in {elsewhere} too; a set can be used for one purpose only"
                yield ("datasets", category, index), message


def _languages_of_providers(config: Mapping[str, Any]) -> Found:
    pair = [known for side in ("src", "trg") if (known := _language(config, side))]
    for category in CATEGORIES:
        concerned = {"mono-src": pair[:1], "mono-trg": pair[1:]}.get(category, pair)
        for index, dataset in _datasets(config, category):
            for known in concerned:
                if message := _lacking(dataset, known):
                    yield ("datasets", category, index), message


def _lacking(dataset: Dataset, known: Language) -> str:
    if dataset.provider == "ntrex" and not known.ntrex:
        return f"NTREX-128 has no {known.name}; remove {dataset.key!r}"
    if dataset.provider == "demo" and known.code not in DEMO_LANGUAGES:
        return f"the demo corpus is English and Esperanto (en, eo), not {known.name}"
    return ""


def _thresholds_without_dataset(config: Mapping[str, Any]) -> Found:
    for path, category in (
        (("bicleaner",), "train"),
        (("monocleaner", "mono-src"), "mono-src"),
        (("monocleaner", "mono-trg"), "mono-trg"),
    ):
        where = ("experiment", *path, "dataset-thresholds")
        slugs = [dataset.slug for _, dataset in _datasets(config, category)]
        thresholds = _at(config, *where)
        for name in thresholds if isinstance(thresholds, Mapping) else ():
            if name not in slugs:
                message = f"matches no dataset in datasets.{category}.{suggestion(name, slugs)}"
                yield (*where, name), message


def _not_built(config: Mapping[str, Any]) -> Found:
    if _says_something(_at(config, "continuation")):
        message = (
            "continuation is not built yet; remove it. Without it the models, vocabularies and corpora are "
            "made from scratch"
        )
        yield ("continuation",), message
    if _at(config, "experiment", "teacher-decoder") == "ctranslate2":
        yield (
            ("experiment", "teacher-decoder"),
            "ctranslate2 is not built yet; write marian, or remove the key",
        )


def _says_something(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_says_something, value.values()))
    return value is not None
