"""Asks the sources for the datasets of a pair, all at once; one that is down does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from translations_assets.generate import hplt, huggingface, mtdata, news_crawl, opus, sacrebleu
from translations_assets.generate.found import Found, Problem, Query

SOURCES: Mapping[str, Callable[[Query], Iterable[Found | Problem]]] = {
    "opus": opus.find,
    "mtdata": mtdata.find,
    "sacrebleu": sacrebleu.find,
    "huggingface_parallel": huggingface.find_parallel,
    "huggingface_mono": huggingface.find_mono,
    "huggingface_any": huggingface.find_any,
    "hplt-mono": hplt.find,
    "news-crawl": news_crawl.find,
}
# huggingface_any finds what the two others find, and much else: it is asked only by name.
USUAL = tuple(name for name in SOURCES if name != "huggingface_any")


@dataclass(frozen=True)
class Search:
    """What was found, in the order of the sources, and what could not be learnt."""

    found: tuple[Found, ...]
    problems: tuple[Problem, ...]


def search(query: Query, importers: Sequence[str] = USUAL) -> Search:
    """Ask the sources with these names."""
    importers = [name for name in SOURCES if name in importers]
    with ThreadPoolExecutor(len(importers)) as pool:
        answers = [*pool.map(lambda name: list(SOURCES[name](query)), importers)]
    told = [each for answer in answers for each in answer]
    return Search(
        tuple(each for each in told if isinstance(each, Found)),
        tuple(each for each in told if isinstance(each, Problem)),
    )
