"""Datasets of the Hugging Face hub (https://huggingface.co/datasets) that name the languages in their cards.

Many cards say which subsets, splits and columns there are (`dataset_info`). Where that tells which columns
are source and target, a parallel dataset can be named in a config. At others a person must look before, and
at monolingual ones, of which no card says what kind of text it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from translations_assets.config.errors import Problem
from translations_assets.config.known import address
from translations_assets.config.languages import Language
from translations_assets.config.providers.provider import Addresses, Found, Provider, Query, licence_text
from translations_assets.config.web import NoAnswer, NotThere, read_json

HUB = address("hub")
LIMIT = 100  # of the most downloaded datasets; rarely used ones are seldom good
SPLIT = "train"
DEFAULT = "default"  # the subset that a key need not name
OPUS = "opus"  # in names of repositories: a copy of what OPUS has
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
    """Datasets in both languages; those of translation whose cards name their columns need no inspection."""
    yield from _find(PARALLEL, [query.src, query.trg], (), query.mirror)


def _find_on_sides(query: Query, importer: str, tags: Sequence[str] = ()) -> Iterator[Found | Problem]:
    for _, language in query.sides:
        yield from _find(importer, [language], tags, query.mirror)


# Datasets in one of the languages alone; and those in one of them, alone or among others.
find_mono = partial(_find_on_sides, importer=MONO, tags=["multilinguality:monolingual"])
find_any = partial(_find_on_sides, importer=ANY)


def _find(
    importer: str, languages: Sequence[Language], tags: Sequence[str], mirror: str
) -> Iterator[Found | Problem]:
    filters = [*(f"language:{language.iso639_1}" for language in languages), *tags]
    wanted = "".join(f"filter={quote(each, safe=':')}&" for each in filters)
    url = f"{HUB}/api/datasets?{wanted}sort=downloads&direction=-1&limit={LIMIT}&full=true"  # with cards
    try:
        answer = read_json(url, mirror)
        found = [
            one
            for each in answer
            if SPEECH not in each.get("tags", ())
            for one in _as_it_is(_found(each, importer), each, languages)
        ]
    except (NoAnswer, NotThere) as error:
        yield Problem(str(error), key=importer)
    except (KeyError, TypeError, AttributeError) as error:
        yield Problem(f"the answer of {url} cannot be understood ({error!r})", key=importer)
    else:
        # The order of downloads changes from day to day; the largest first does not.
        yield from sorted(found, key=lambda each: (-(each.sentences or _least(each.extent)), each.key))


def _found(told: dict[str, Any], importer: str) -> Found:
    """A dataset as the hub's API returns it; its tags name size, licence and tasks."""
    name, tags = str(told["id"]), [str(tag) for tag in told.get("tags", ())]
    tagged = dict(tag.split(":", 1) for tag in reversed(tags) if ":" in tag)  # the first of each
    size = tagged.get("size_categories", "").upper().replace("N", "n")
    return Found(
        importer,
        name,
        use="train" if importer == PARALLEL and TRANSLATION in tags else "",
        extent=", ".join(filter(None, (size, "asks for a login" if told.get("gated") else ""))),
        licence=licence_text(tagged.get("license")),
        url=f"{HUB}/datasets/{name}",
        skipped=TO_BE_NAMED[importer],
    )


def _as_it_is(found: Found, told: Mapping[str, Any], languages: Sequence[Language]) -> Sequence[Found]:
    """The subsets that can be named in a config, else the repository, for a person to inspect."""
    if found.use != "train" or told.get("gated"):
        return [found]
    subsets = (told.get("cardData") or {}).get("dataset_info") or []
    named = [
        replace(
            found,
            key=_key(found.key, str(subset.get("config_name", DEFAULT)), columns),
            sentences=_rows(subset),
            extent="",
            skipped="OPUS has it" if OPUS in found.key.lower() else "",
        )
        for subset in ([subsets] if isinstance(subsets, Mapping) else subsets)
        if _rows(subset) is not None and (columns := _columns(subset, languages))
    ]
    return named or [found]


def _key(repository: str, subset: str, columns: Sequence[str]) -> str:
    return ":".join((f"hfp_{repository}", *([] if subset == DEFAULT else [subset]), SPLIT, *columns))


def _rows(subset: Mapping[str, Any]) -> int | None:
    """The number of rows in its training split; None without one."""
    rows = {split["name"]: int(split["num_examples"]) for split in subset.get("splits", ())}
    return rows.get(SPLIT)


def _columns(subset: Mapping[str, Any], languages: Sequence[Language]) -> Sequence[str]:
    """The columns of the languages, or what the column `translation` calls them; empty if that is unknown."""
    dtypes = {str(feature["name"]): feature.get("dtype") for feature in subset.get("features", ())}
    pairs = dtypes.get("translation")
    inside = pairs.get("translation", {}).get("languages", ()) if isinstance(pairs, Mapping) else ()
    for columns in (inside, [name for name, dtype in dtypes.items() if dtype == "string"]):
        chosen = [
            [column for column in columns if str(column).lower() in _called(each)] for each in languages
        ]
        if all(len(found) == 1 for found in chosen):
            return [str(found[0]) for found in chosen]
    return ()


def _called(spoken: Language) -> frozenset[str]:
    """Names, in small letters, that a column with text in the language may have."""
    code = spoken.code.lower()
    return frozenset((code, code.replace("_", "-"), spoken.iso639_1, spoken.iso639_3, spoken.name.lower()))


def _least(extent: str) -> int:
    """The least number of entries a dataset has, 0 when unknown: 1000000 of `1M<n<10M`."""
    lower = extent.partition("<")[0]
    number, unit = lower[:-1], lower[-1:]
    return int(number) * UNITS[unit] if number.isdecimal() and unit in UNITS else 0


def addresses(name: str, *sides: Language) -> Addresses:
    """The hub's answer about a dataset, of which a key begins with its repository."""
    return [[f"{HUB}/api/datasets/{name.partition(':')[0]}"]]


HUB_PARALLEL = Provider(
    "hfp",
    lambda name, spoken: spoken.code,
    example="hfp_owner/corpus:train:en:ru",
    form=r"[^:@]+/[^:@]+(:[^:@]+){3,4}(@[\w./-]+)?",
    addresses=addresses,
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
