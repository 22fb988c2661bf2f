"""HPLT's web text, release 3.0 (https://hplt-project.org/datasets), by its lists of shards."""

from __future__ import annotations

from collections.abc import Iterator

from translations_assets.config.addresses import MONO
from translations_assets.config.languages import Language
from translations_assets.generate.fetch import NoAnswer, NotThere, read
from translations_assets.generate.found import Found, Problem, Query

IMPORTER = "hplt-mono"
RELEASE = "mono/v3.0"
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
    [[url]] = MONO["hplt"](RELEASE, language)
    shards = read(url, mirror).decode("utf-8", "replace").split()
    if not shards or not all(shard.endswith(".jsonl.zst") for shard in shards):
        raise NoAnswer(f"{url} is no list of shards")
    number = len(shards)
    extent = f"{number} shard{'' if number == 1 else 's'}"
    return Found(IMPORTER, f"hplt_{RELEASE}", category, extent=extent, licence=LICENCE, url=url)
