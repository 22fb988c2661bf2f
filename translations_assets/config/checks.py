"""Checks of a training config that concern several keys at once.

They look at the values as they were read, and so find what is wrong where other keys are wrong too: all
problems are reported at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from translations_assets.config import (
    continuation,
    distillation,
    documents,
    evaluation,
    final_evaluation,
    finetuning,
    marian_args,
    own_languages,
    translators,
)
from translations_assets.config.datasets import (
    CATEGORIES,
    THRESHOLDS,
    WEIGHTS,
    Dataset,
    listed,
    pair_of,
    provider_of,
    sides_of,
)
from translations_assets.config.errors import among
from translations_assets.config.identification import FASTTEXT, NON_COMMERCIAL, weakness
from translations_assets.config.providers import PARALLEL as PARALLEL_PROVIDERS
from translations_assets.config.yaml_reader import Found, KeyPath, at, mapping_at

Variant: TypeAlias = "tuple[str, str, str | None]"  # provider, name and modifier of a set

PARALLEL = ("train", "finetune", "devtest", "test")
MOST_NAMED = 20  # thresholds or weights without a dataset, next to which the names of datasets are listed


def check_together(config: Mapping[str, Any]) -> Found:
    """The key path and message of every problem between the keys of a config as it was read."""
    yield from own_languages.check_languages(config)
    yield from _same_language(config)
    yield from _same_short_name(config)
    yield from _alias_of_two(config)
    yield from _held_out_in_training(config)
    yield from _nothing_to_validate_on(config)
    yield from languages_of_providers(config)
    yield from _names_without_dataset(config)
    yield from _weights_without_limit(config)
    yield from _offensive_words_of_source_alone(config)
    yield from marian_args.check_marian_args(config)
    yield from continuation.check_continuation(config)
    yield from documents.check_documents(config)
    yield from distillation.check_distillation(config)
    yield from finetuning.check_finetuning(config)
    yield from evaluation.check_evaluation(config)
    yield from final_evaluation.check_final_evaluation(config)
    yield from translators.check_translators(config)


def remarks(config: Mapping[str, Any]) -> Found:
    """The key path and message of what people should know, although it can be meant as it is."""
    for path, dataset, elsewhere in _used_twice(config):
        if _is_validated_and_tested_on(dataset, path, elsewhere):
            said = "its scores will be better than on unseen text"
            if _variant(dataset) in _variants(config, elsewhere):
                said = "lines of test sets are left out of the dev set"
            yield path, f"{dataset.shown_key!r} is in {elsewhere} too: {said}"
    yield from own_languages.remarks(config)
    yield from _scored_without_english(config)
    yield from marian_args.remarks(config)
    yield from _weak_identification(config)
    yield from continuation.remarks(config)
    yield from final_evaluation.remarks(config)
    yield from translators.remarks(config)
    yield from evaluation.remarks(config)


def _same_language(config: Mapping[str, Any]) -> Found:
    src, trg = (at(config, ("experiment", side)) for side in ("src", "trg"))
    if src == trg and src is not None:
        yield ("experiment", "trg"), f"is the source language too ({src})"


def _weak_identification(config: Mapping[str, Any]) -> Found:
    path = ("experiment", "language-identification")
    choice = at(config, path)
    if choice in NON_COMMERCIAL or choice == FASTTEXT:
        yield path, f"{choice!r} is a model whose licence is for non-commercial use only (CC BY-NC 4.0)"
    for spoken in filter(None, pair_of(config)):
        if message := weakness(choice, spoken):
            yield path, message


def _same_short_name(config: Mapping[str, Any]) -> Found:
    for category in CATEGORIES:
        seen: dict[str, Dataset] = {}
        keys: set[str] = set()
        for path, dataset in listed(config, category):
            first = seen.get(dataset.short_name)
            if first:
                todo = "remove one" if first.key == dataset.key else "remove one, or give it an alias"
                yield path, f"{dataset.shown_key!r} has the same short name as {first.shown_key!r}; {todo}"
            elif dataset.key in keys:
                yield path, f"{dataset.shown_key!r} stands in the list twice; remove one"
            seen.setdefault(dataset.short_name, dataset)
            keys.add(dataset.key)


def _alias_of_two(config: Mapping[str, Any]) -> Found:
    """An alias stands for one dataset in the whole config."""
    named: dict[str, tuple[KeyPath, Dataset]] = {}
    for path, dataset in listed(config):
        where, first = named.setdefault(dataset.short_name, (path, dataset))
        if where[1] != path[1] and first.key != dataset.key and (first.alias or dataset.alias):
            said = f"{dataset.short_name!r} is the name of {first.shown_key!r} in datasets.{where[1]}, too"
            yield path, f"{said}; an alias stands for one dataset"


def _held_out_in_training(config: Mapping[str, Any]) -> Found:
    """A set may be for one purpose only: its variants, too, hold its sentences."""
    for path, dataset, elsewhere in _used_twice(config):
        if not _is_validated_and_tested_on(dataset, path, elsewhere):
            yield path, f"{dataset.shown_key!r} is in {elsewhere} too; a set can be used for one purpose only"


def _nothing_to_validate_on(config: Mapping[str, Any]) -> Found:
    """Dev sets that are test sets, whose lines are left out of what models are validated on."""
    path, tested = ("datasets", "devtest"), _variants(config, "test")
    datasets = [dataset for _, dataset in listed(config, "devtest")]
    if datasets and all(
        _variant(dataset) in tested and _is_validated_and_tested_on(dataset, path, "test")
        for dataset in datasets
    ):
        yield path, "nothing is left of it: lines of test sets are left out; name another dev set, too"


def _variants(config: Mapping[str, Any], category: str) -> set[Variant]:
    return {_variant(dataset) for _, dataset in listed(config, category)}


def _variant(dataset: Dataset) -> Variant:
    return dataset.provider, dataset.name, dataset.augmentation


def _used_twice(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, Dataset, str]]:
    """Datasets that are in another category, too, with that category; the intended one is unknown."""
    datasets = list(listed(config, *PARALLEL))
    uses: dict[tuple[str, str], set[Any]] = {}
    for path, dataset in datasets:
        uses.setdefault((dataset.provider, dataset.name), set()).add(path[1])
    for path, dataset in datasets:
        for elsewhere in PARALLEL:
            if elsewhere in uses[dataset.provider, dataset.name] - {path[1]}:
                yield path, dataset, elsewhere


def _is_validated_and_tested_on(dataset: Dataset, path: KeyPath, elsewhere: str) -> bool:
    """True if the dataset is its provider's only one (NTREX-128), so that using it for both may be meant."""
    provider = PARALLEL_PROVIDERS.get(dataset.provider)
    return (
        provider is not None
        and len(provider.sets) == 1
        and {"train", "finetune"}.isdisjoint((path[1], elsewhere))
    )


def languages_of_providers(config: Mapping[str, Any]) -> Found:
    """Datasets whose provider lacks a language of the config, or has the pair otherwise."""
    pair = pair_of(config)
    for path, dataset in listed(config):
        provider = provider_of(dataset, path)
        if provider is None:
            continue
        concerned = [spoken for spoken in sides_of(path, pair) if spoken]
        for message in filter(None, (provider.lacking(dataset.name, spoken) for spoken in concerned)):
            yield path, f"{message}; remove {dataset.shown_key!r}"
        if len(concerned) == 2 and (message := provider.misfit(dataset.name, *concerned)):
            yield path, f"{dataset.shown_key!r} {message}"


def _names_without_dataset(config: Mapping[str, Any]) -> Found:
    """Thresholds and weights of datasets that the config does not list."""
    for where, category in {**THRESHOLDS, **WEIGHTS}.items():
        datasets = [dataset for _, dataset in listed(config, category)]
        names = [dataset.short_name for dataset in datasets]
        aliases = {dataset.slug: dataset.alias for dataset in datasets if dataset.alias}
        known, unknown = frozenset(names), 0
        for name in mapping_at(config, where):
            if name in known:
                continue
            if name in aliases:
                yield (*where, name), f"has the alias {aliases[name]!r} in datasets.{category}; write that"
                continue
            unknown += 1
            near = among(name, names) if unknown <= MOST_NAMED else ""
            yield (*where, name), f"matches no dataset in datasets.{category}.{near}"


def _scored_without_english(config: Mapping[str, Any]) -> Found:
    """Few of Bicleaner-AI's models are of pairs without English, and which is known when one is fetched."""
    src, trg = pair_of(config)
    if src is None or trg is None or "en" in (src.code, trg.code):
        return
    where = ("experiment", "bicleaner", "default-threshold")
    if at(config, where) != 0 and any(True for _ in listed(config, "train")):
        yield (
            where,
            f"Bicleaner-AI may have no model of {src.name} and {trg.name}, as it has few of pairs without "
            "English; if so, fetching it fails, and 0 here, for all datasets, does without",
        )


def _weights_without_limit(config: Mapping[str, Any]) -> Found:
    """Texts of one language always have a limit; the parallel corpus has one when the config says so."""
    where = ("experiment", "merging", "dataset-weights", "train")
    if at(config, where) and not at(config, ("experiment", "corpus-max-sentences")):
        yield where, "decides what a limit drops, and there is none; set experiment.corpus-max-sentences"


def _offensive_words_of_source_alone(config: Mapping[str, Any]) -> Found:
    """The source's list excuses words of the target's; alone it judges nothing."""
    where = ("checks", "offensive-words", "src-list")
    if at(config, where) and not at(config, (*where[:-1], "trg-list")):
        yield where, "excuses words of the target's list, and there is none; set trg-list as well"
