"""Which datasets there are of a pair, which of them go into a config, for which use, and why others do not.

The rules of choosing are those of Mozilla's generator, and: no two sets that share sentences are used for two
purposes, as far as their names tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from translations_assets.config.datasets import check_mono, check_parallel, parse_dataset
from translations_assets.config.errors import ConfigError, Problem
from translations_assets.config.providers import PROVIDERS
from translations_assets.config.providers.provider import Found, Query
from translations_assets.config.providers.provider import Search as Source

SOURCES: Mapping[str, Source] = {
    name: find for provider in PROVIDERS for name, find in provider.searches.items()
}
# huggingface_any finds what the two others find, and much else: it is asked only by name.
USUAL = tuple(name for name in SOURCES if name != "huggingface_any")

FEWEST = 200  # sentences; less adds steps, and nothing to a model
CATEGORIES = ("devtest", "test", "train", "mono-src", "mono-trg")
WIDE_VARIANTS = ("mix", "noise", "inline-noise", "punct")
CASE_VARIANTS = ("title", "upper")
SPELLING_VARIANTS = ("typos",)


@dataclass(frozen=True)
class Search:
    """What was found, in the order of the sources, and what could not be learnt."""

    found: tuple[Found, ...]
    problems: tuple[Problem, ...]


def search(query: Query, importers: Sequence[str] = USUAL) -> Search:
    """Ask the sources with these names, all at once; one that is down does not stop the others."""
    importers = [name for name in SOURCES if name in importers]
    with ThreadPoolExecutor(len(importers)) as pool:
        answers = [*pool.map(lambda name: list(SOURCES[name](query)), importers)]
    told = [each for answer in answers for each in answer]
    return Search(
        tuple(each for each in told if isinstance(each, Found)),
        tuple(each for each in told if isinstance(each, Problem)),
    )


@dataclass(frozen=True)
class Chosen:
    """A dataset key as it goes into a config, and the dataset behind it."""

    key: str
    found: Found


@dataclass(frozen=True)
class Choice:
    """The keys of each category, and the datasets that are left out, `skipped` saying why."""

    chosen: dict[str, list[Chosen]]
    skipped: list[Found]


def choose(found: Iterable[Found], query: Query) -> Choice:
    """Choose among datasets; the order of those that are chosen is kept."""
    judged = list(judge(found))
    choice = Choice({category: [] for category in CATEGORIES}, [each for each in judged if each.skipped])
    for each in judged:
        if not each.skipped:
            choice.chosen[each.use] += [Chosen(key, each) for key in _keys(each, query)]
    return choice


def judge(found: Iterable[Found]) -> Iterator[Found]:
    """The datasets, marked with why they are left out; those of OPUS must come before those of mtdata."""
    slugs: set[tuple[str, str]] = set()
    corpora: set[str] = set()  # of OPUS, by their bare names
    for each in found:
        skipped = each.skipped or _unfit(each) or _doubled(each, corpora)
        if each.importer == "opus" and each.use == "train":
            corpora.add(bare_name(each.key.removeprefix("opus_").partition("/")[0]))
        if not skipped:
            slug = (each.use, parse_dataset(each.key).short_name)
            skipped = "another dataset has the same short name" if slug in slugs else ""
            slugs.add(slug)
        yield replace(each, skipped=skipped)


def _unfit(each: Found) -> str:
    if each.sentences is not None and each.sentences < FEWEST:
        return "not enough data"
    try:
        (check_mono if each.use.startswith("mono") else check_parallel)(each.key)
    except ConfigError as error:
        return f"its name cannot be a dataset key: {error}"
    return "" if each.key.isprintable() else "its name cannot be a dataset key"


def _doubled(each: Found, corpora: set[str]) -> str:
    """Whether OPUS has a corpus of mtdata; of a dev or test set, the corpus that it may be part of."""
    if each.importer != "mtdata":
        return ""
    group, corpus = each.key.removeprefix("mtdata_").split("-", 1)
    corpus = corpus.rsplit("-", 3)[0]
    if not {bare_name(corpus), bare_name(group + corpus)} & corpora:
        return ""
    return "OPUS has it" if each.use == "train" else "OPUS has the corpus that it is of"


def bare_name(corpus: str) -> str:
    """The letters of a corpus's name, so that those of OPUS and mtdata compare.

    `NeuLab-TedTalks` and mtdata's group Neulab with `tedtalks_train` are `neulabtedtalks`, `books_wmt17` is
    `books`, and `hallituskausi_2011_2015` is what `Hallituskausi` of another year is.
    """
    corpus = re.sub(r"_(train|training|dev|devtest|test|valid|val|tune|wmt\d\d)$", "", corpus.lower())
    return re.sub(r"[^a-z]", "", corpus)


def _keys(each: Found, query: Query) -> list[str]:
    """The keys under which a set is used: dev sets in the mix that models meet, FLORES in all variants."""
    if each.importer == "pontoon":
        return [_variant(each.key, "short")]
    if each.use == "devtest":
        return [_variant(each.key, "mix")]
    if each.key == "flores_devtest":
        return [each.key, *(_variant(each.key, name) for name in _variants(query))]
    return [each.key]


def _variants(query: Query) -> Sequence[str]:
    """The modifiers that change text in the scripts of the pair."""
    spelt = query.src.phonemic and query.trg.phonemic
    return (
        *WIDE_VARIANTS,
        *(CASE_VARIANTS if spelt and query.src.bicameral else ()),
        *(SPELLING_VARIANTS if spelt else ()),
    )


def _variant(key: str, modifier: str) -> str:
    provider, _, name = key.partition("_")
    return f"{provider}_aug-{modifier}_{name}"
