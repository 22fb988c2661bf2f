"""Monolingual text of HPLT (https://hplt-project.org/datasets) and the News Crawl (https://data.statmt.org).

Release 3.0 of HPLT is found by its lists of shards, years of news by the listings of their folders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from translations_assets.config.errors import Problem
from translations_assets.config.known import address
from translations_assets.config.languages import Language
from translations_assets.config.providers.provider import (
    Addresses,
    Found,
    Provider,
    Query,
    estimate,
    on_each_side,
)
from translations_assets.config.web import NoAnswer, read

FIRST = "mono/v1.2"  # which knows languages by ISO 639-1
RELEASE = "mono/v3.0"
RELEASES: Mapping[str, str] = address("hplt")  # with the addresses of their lists
LICENCE = "CC0-1.0"  # of the packaging; the texts are their authors'

NEWS = address("mono_news_crawl")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}  # as Apache's listings count


def find_hplt(query: Query) -> Iterator[Found | Problem]:
    """The text of both languages; how many sentences it has depends on the scores that are asked for."""
    yield from on_each_side(query, "hplt-mono", _release)


def _release(language: Language, category: str, mirror: str) -> Iterator[Found]:
    if not language.hplt:
        return
    [[url]] = _hplt_addresses(RELEASE, language)
    shards = read(url, mirror).decode("utf-8", "replace").split()
    if not shards or not all(shard.endswith(".jsonl.zst") for shard in shards):
        raise NoAnswer(f"{url} is no list of shards")
    extent = f"{len(shards)} shard{'' if len(shards) == 1 else 's'}"
    yield Found("hplt-mono", f"hplt_{RELEASE}", category, extent=extent, licence=LICENCE, url=url)


def _hplt_code(name: str, spoken: Language) -> str:
    return {FIRST: spoken.iso639_1, "mono/v2.0": spoken.hplt2}.get(name, spoken.hplt)


def _hplt_addresses(name: str, spoken: Language) -> Addresses:
    """The list of shards of a release."""
    return [[RELEASES[name].format(code=_hplt_code(name, spoken))]] if name in RELEASES else []


def find_news(query: Query) -> Iterator[Found | Problem]:
    """The years of both languages, the oldest first; none where the News Crawl lacks the language."""
    yield from on_each_side(query, "news-crawl", _years)


def _years(language: Language, category: str, mirror: str) -> Iterator[Found]:
    code = language.iso639_1
    folder = f"{NEWS}/{code}/"
    listing = read(folder, mirror).decode("utf-8", "replace")
    # A row: <a href="news.2019.lt.shuffled.deduped.gz">…</a></td><td>2021-01-08 12:10</td><td>132M</td>
    row = rf'href="(news\.\d{{4}})\.{re.escape(code)}\.shuffled\.deduped\.gz"[^\n]*?>\s*([\d.]+)([KMG]?)\s*<'
    found = re.findall(row, listing)
    if not found and "shuffled" in listing:
        raise NoAnswer(f"the listing {folder} cannot be understood")
    for name, number, unit in sorted(set(found)):
        [[url]] = _news_addresses(name, language)
        key, size = f"news-crawl_{name}", int(float(number) * UNITS[unit])
        yield Found("news-crawl", key, category, estimate(size), estimated=True, bytes=size, url=url)


def _news_addresses(name: str, spoken: Language) -> Addresses:
    return [[f"{NEWS}/{spoken.iso639_1}/{name}.{spoken.iso639_1}.shuffled.deduped.gz"]]


HPLT = Provider(
    "hplt",
    _hplt_code,
    example=f"hplt_{RELEASE}",
    title="HPLT",
    form="|".join(map(re.escape, RELEASES)),
    addresses=_hplt_addresses,
    searches={"hplt-mono": find_hplt},
)
NEWS_CRAWL = Provider(
    "news-crawl",
    lambda name, spoken: spoken.iso639_1,
    example="news-crawl_news.2021",
    form=r"news\.\d{4}",
    addresses=_news_addresses,
    searches={"news-crawl": find_news},
)
