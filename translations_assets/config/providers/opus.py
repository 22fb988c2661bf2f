"""Corpora of OPUS (https://opus.nlpl.eu), listed by its API; its repository has their licences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from translations_assets.config.errors import Problem
from translations_assets.config.known import address
from translations_assets.config.languages import Language
from translations_assets.config.providers.provider import (
    Addresses,
    Found,
    Provider,
    Query,
    estimate,
    licence_text,
    reason_of,
)
from translations_assets.config.web import NoAnswer, NotThere, ask, read, read_json

IMPORTER = "opus"
API = "https://opus.nlpl.eu/opusapi/?source={src}&target={trg}&preprocessing=moses&version=latest"
LICENCES_HOST = "https://raw.githubusercontent.com"
LICENCES = LICENCES_HOST + "/Helsinki-NLP/OPUS/main/corpus/{corpus}/info.yaml"
NLLB = "NLLB/v1"
NLLB_LICENCE = "ODC-By"
AT_ONCE = 16


def find(query: Query) -> Iterator[Found | Problem]:
    """Parallel corpora, the largest first, and the monolingual side of NLLB."""
    url = API.format(src=query.src.iso639_1, trg=query.trg.iso639_1)
    try:
        yield from _with_licences(_parallel(read_json(url, query.mirror), url), query.mirror)
    except (NoAnswer, NotThere) as error:
        yield Problem(str(error), key=IMPORTER)
    yield from _mono_of_nllb(query)


def _parallel(answer: Any, url: str) -> list[Found]:
    try:
        rows = [(str(row["corpus"]), str(row["version"]), row) for row in answer["corpora"]]
        latest = sorted(rows, key=lambda row: (row[2].get("latest") in ("True", True), version_order(row[1])))
        newest = {corpus: version for corpus, version, _ in latest}  # what the API calls so, else the highest
        found = [_found(corpus, version, row, newest[corpus]) for corpus, version, row in rows]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise NoAnswer(f"the answer of {url} cannot be understood ({error!r})") from error
    unique: dict[str, Found] = {}
    for each in sorted(found, key=lambda each: (-(each.sentences or 0), each.key)):
        unique.setdefault(each.key, each)  # the API lists some corpora twice; the larger figure is the whole
    return list(unique.values())


def _found(corpus: str, version: str, row: Mapping[str, Any], newest: str) -> Found:
    return Found(
        IMPORTER,
        f"opus_{corpus}/{version}",
        "train",
        int(row.get("alignment_pairs") or 0),
        bytes=int(row.get("size") or 0) * 1024 or None,
        url=str(row.get("url") or ""),
        skipped=reason_of(corpus, IMPORTER) if version == newest else f"{newest} is newer",
    )


def version_order(version: str) -> tuple[tuple[int, str], ...]:
    """A key that sorts versions by their numbers: v7.1 before v10, v2018 before v2018q4."""
    return tuple((int(part), "") if part.isdigit() else (0, part) for part in re.findall(r"\d+|\D+", version))


def _with_licences(corpora: list[Found], mirror: str) -> Iterator[Found | Problem]:
    away: list[NoAnswer] = []

    def licensed(each: Found) -> Found:
        if away or each.skipped or not each.sentences:
            return each  # a server that is away is not asked a hundred times
        try:
            return replace(each, licence=_licence(each.key, mirror))
        except NoAnswer as error:
            away.append(error)
            return each

    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from pool.map(licensed, corpora)
    if away:
        yield Problem(f"licences could not all be looked up: no answer from {LICENCES_HOST}", key=IMPORTER)


def _licence(key: str, mirror: str) -> str:
    corpus = key.removeprefix("opus_").partition("/")[0]
    try:
        text = read(LICENCES.format(corpus=corpus), mirror).decode("utf-8", "replace")
    except NotThere:
        return ""
    stated = re.search(r"^license: *(?![ >|])(.*)$", text, re.MULTILINE)
    return licence_text(stated[1].strip("'\" ")) if stated else ""


def _mono_of_nllb(query: Query) -> Iterator[Found | Problem]:
    for category, language in query.sides:
        [[url]] = _mono_addresses(NLLB, language)
        answer = ask(url, query.mirror)
        if not answer.problem:
            yield Found(
                IMPORTER,
                f"opus_{NLLB}",
                category,
                estimate(answer.size),
                estimated=True,
                bytes=answer.size,
                licence=NLLB_LICENCE,
                url=url,
            )
        elif answer.is_unknown:
            yield Problem(answer.problem, key=IMPORTER)


def _addresses(name: str, src: Language, trg: Language) -> Addresses:
    folder, first, second = f"{address('opus')}{name}/moses", src.iso639_1, trg.iso639_1
    return [[f"{folder}/{first}-{second}.txt.zip", f"{folder}/{second}-{first}.txt.zip"]]


def _mono_addresses(name: str, spoken: Language) -> Addresses:
    return [[f"{address('opus')}{name}/mono/{spoken.iso639_1}.txt.gz"]]


OPUS = Provider(
    "opus",
    lambda name, spoken: spoken.iso639_1,
    example="opus_ParaCrawl/v9",
    form=r"[^/\s]+/[^/\s]+",
    addresses=_addresses,
    searches={IMPORTER: find},
)
OPUS_MONO = replace(OPUS, example=f"opus_{NLLB}", addresses=_mono_addresses, searches={})
