"""Asks the sources for the datasets of a pair, all at once; one that is down does not stop the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from translations_assets.config.providers import PROVIDERS
from translations_assets.config.providers.found import Found, Problem, Query
from translations_assets.config.providers.provider import Search as Source

SOURCES: Mapping[str, Source] = {
    name: find for provider in PROVIDERS for name, find in provider.searches.items()
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
