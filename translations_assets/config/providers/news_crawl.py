"""Years of news of the News Crawl (https://data.statmt.org/news-crawl), from the listings of its folders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from translations_assets.config.languages import Language
from translations_assets.config.providers.found import Found, Problem, Query, estimate
from translations_assets.config.providers.provider import Addresses, Provider, same_code
from translations_assets.config.web import NoAnswer, NotThere, read

IMPORTER = "news-crawl"
FOLDERS = "http://data.statmt.org/news-crawl"
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}  # as Apache's listings count


def find(query: Query) -> Iterator[Found | Problem]:
    """The years of both languages, the oldest first; none where the News Crawl lacks the language."""
    for category, language in query.sides:
        try:
            yield from _years(language, category, query.mirror)
        except NotThere:
            continue
        except NoAnswer as error:
            yield Problem(IMPORTER, str(error))


def _years(language: Language, category: str, mirror: str) -> list[Found]:
    code = language.iso639_1
    folder = f"{FOLDERS}/{code}/"
    listing = read(folder, mirror).decode("utf-8", "replace")
    # A row: <a href="news.2019.lt.shuffled.deduped.gz">…</a></td><td>2021-01-08 12:10</td><td>132M</td>
    row = rf'href="(news\.\d{{4}})\.{re.escape(code)}\.shuffled\.deduped\.gz"[^\n]*?>\s*([\d.]+)([KMG]?)\s*<'
    found = re.findall(row, listing)
    if not found and "shuffled" in listing:
        raise NoAnswer(f"the listing {folder} cannot be understood")
    return [
        _year(name, int(float(number) * UNITS[unit]), category, language)
        for name, number, unit in sorted(set(found))
    ]


def _year(name: str, size: int, category: str, language: Language) -> Found:
    [[url]] = _addresses(name, language)
    key = f"news-crawl_{name}"
    return Found(IMPORTER, key, category, estimate(size), estimated=True, bytes=size, url=url)


def _addresses(name: str, language: Language) -> Addresses:
    code = language.iso639_1
    return [[f"{FOLDERS}/{code}/{name}.{code}.shuffled.deduped.gz"]]


NEWS_CRAWL = Provider(
    "news-crawl",
    same_code("iso639_1"),
    example="news-crawl_news.2021",
    form=r"news\.\d{4}",
    addresses=_addresses,
    searches={IMPORTER: find},
)
