"""Datasets of the Hugging Face hub (https://huggingface.co/datasets) that name the languages in their cards.

The hub does not say which columns hold the text, so a person must look at a dataset before it can be named in
a config.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from translations_assets.config.errors import Problem
from translations_assets.config.languages import Language
from translations_assets.config.providers.provider import Addresses, Found, Provider, Query, licence_text
from translations_assets.config.web import NoAnswer, NotThere, read_json

API = "https://huggingface.co/api/datasets"
DATASETS = "https://huggingface.co/datasets"
LIMIT = 100  # of the most downloaded datasets; rarely used ones are seldom good
SPEECH = "task_categories:automatic-speech-recognition"
TRANSLATION = "task_categories:translation"
UNITS = {"K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
PARALLEL, MONO, ANY = "huggingface_parallel", "huggingface_mono", "huggingface_any"
TO_BE_NAMED = {
    PARALLEL: "look at it, then name it hfp_<repository>:<subset>:<split>:<source column>:<target column>",
    MONO: "look at it, then name it hf_<repository>:<subset>:<split>:<column>",
    ANY: "look at it first",
}


def find_parallel(query: Query) -> Iterator[Found | Problem]:
    """Datasets in both languages."""
    yield from _find(PARALLEL, [query.src, query.trg], (), query.mirror)


def find_mono(query: Query) -> Iterator[Found | Problem]:
    """Datasets in one of the languages alone."""
    for _, language in query.sides:
        yield from _find(MONO, [language], ("multilinguality:monolingual",), query.mirror)


def find_any(query: Query) -> Iterator[Found | Problem]:
    """Datasets in one of the languages, alone or among others."""
    for _, language in query.sides:
        yield from _find(ANY, [language], (), query.mirror)


def _find(
    importer: str, languages: Sequence[Language], tags: Sequence[str], mirror: str
) -> Iterator[Found | Problem]:
    filters = [*(f"language:{language.iso639_1}" for language in languages), *tags]
    wanted = "".join(f"filter={quote(each, safe=':')}&" for each in filters)
    url = f"{API}?{wanted}sort=downloads&direction=-1&limit={LIMIT}"
    try:
        answer = read_json(url, mirror)
        found = [_found(each, importer) for each in answer if SPEECH not in each.get("tags", ())]
    except (NoAnswer, NotThere) as error:
        yield Problem(str(error), key=importer)
    except (KeyError, TypeError, AttributeError) as error:
        yield Problem(f"the answer of {url} cannot be understood ({error!r})", key=importer)
    else:
        # The order of downloads changes from day to day; the largest first does not.
        yield from sorted(found, key=lambda each: (-_least(each.extent), each.key))


def _found(told: dict[str, Any], importer: str) -> Found:
    """A dataset as the hub's API has it; its tags tell size, licence and tasks."""
    name, tags = str(told["id"]), [str(tag) for tag in told.get("tags", ())]
    tagged = dict(tag.split(":", 1) for tag in reversed(tags) if ":" in tag)  # the first of each
    size = tagged.get("size_categories", "").upper().replace("N", "n")
    return Found(
        importer,
        name,
        use="train" if importer == PARALLEL and TRANSLATION in tags else "",
        extent=", ".join(filter(None, (size, "asks for a login" if told.get("gated") else ""))),
        licence=licence_text(tagged.get("license")),
        url=f"{DATASETS}/{name}",
        skipped=TO_BE_NAMED[importer],
    )


def _least(extent: str) -> int:
    """How many entries a dataset has at least, 0 when unknown: 1000000 of `1M<n<10M`."""
    lower = extent.partition("<")[0]
    number, unit = lower[:-1], lower[-1:]
    return int(number) * UNITS[unit] if number.isdecimal() and unit in UNITS else 0


def _addresses(name: str, *sides: Language) -> Addresses:
    return [[f"{API}/{name.partition(':')[0]}"]]


HUB_PARALLEL = Provider(
    "hfp",
    lambda name, spoken: spoken.code,
    example="hfp_owner/corpus:train:en:ru",
    form=r"[^:@]+/[^:@]+(:[^:@]+){3,4}(@[\w./-]+)?",
    addresses=_addresses,
    secrets=("HF_TOKEN",),
    searches={PARALLEL: find_parallel, ANY: find_any},
)
HUB_MONO = replace(
    HUB_PARALLEL,
    name="hf",
    example="hf_owner/corpus:subset:train:text",
    form=r"[^:@]+/[^:@]+(:[^:@]+){2,3}(@[\w./-]+)?",
    searches={MONO: find_mono},
)
