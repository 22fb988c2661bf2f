"""HPLT's web text (https://hplt-project.org/datasets); release 3.0 is found by its lists of shards."""

from __future__ import annotations

import re
from collections.abc import Iterator

from translations_assets.config.languages import Language
from translations_assets.config.providers.found import Found, Problem, Query
from translations_assets.config.providers.provider import Addresses, Provider
from translations_assets.config.web import NoAnswer, NotThere, read

IMPORTER = "hplt-mono"
FIRST = "mono/v1.2"  # which knows languages by ISO 639-1
RELEASE = "mono/v3.0"
RELEASES = {
    RELEASE: "three/sorted/{}.map",
    "mono/v2.0": "two/cleaned/{}_map.txt",
    FIRST: "one/monotext/cleaned/{}_map.txt",
}
LICENCE = "CC0-1.0"  # of the packaging; the texts are their authors'


def find(query: Query) -> Iterator[Found | Problem]:
    """The text of both languages; how many sentences it has depends on the scores that are asked for."""
    for category, language in query.sides:
        if not language.hplt:
            continue
        try:
            yield _text(language, category, query.mirror)
        except NotThere:
            continue
        except NoAnswer as error:
            yield Problem(IMPORTER, str(error))


def _text(language: Language, category: str, mirror: str) -> Found:
    [[url]] = _addresses(RELEASE, language)
    shards = read(url, mirror).decode("utf-8", "replace").split()
    if not shards or not all(shard.endswith(".jsonl.zst") for shard in shards):
        raise NoAnswer(f"{url} is no list of shards")
    number = len(shards)
    extent = f"{number} shard{'' if number == 1 else 's'}"
    return Found(IMPORTER, f"hplt_{RELEASE}", category, extent=extent, licence=LICENCE, url=url)


def _code(name: str, spoken: Language) -> str:
    return {FIRST: spoken.iso639_1, "mono/v2.0": spoken.hplt2}.get(name, spoken.hplt)


def _addresses(name: str, spoken: Language) -> Addresses:
    """The list of shards of a release."""
    if name not in RELEASES:
        return []
    return [[f"https://data.hplt-project.org/{RELEASES[name].format(_code(name, spoken))}"]]


HPLT = Provider(
    "hplt",
    _code,
    example=f"hplt_{RELEASE}",
    title="HPLT",
    form="|".join(map(re.escape, RELEASES)),
    addresses=_addresses,
    searches={IMPORTER: find},
)
