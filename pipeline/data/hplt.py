"""The releases of HPLT's monolingual text (https://hplt-project.org/datasets), and how to read a document.

A release lists the addresses of a language's shards, files with a JSON document a line. A document has its
text, and a language for each line of it. Releases 2.0 and 3.0 score whole documents (0 to 10, the first of
`doc_scores`), release 1.2 scores each line for its fluency (0 to 1).
"""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pipeline.common.errors import InputError

LICENCE = "CC0-1.0"  # of the packaging; the texts are their authors'
HOST = "https://data.hplt-project.org"


@dataclass(frozen=True)
class Release:
    """Where the list of shards of a language stands, and whether scores belong to lines or to documents."""

    number: str
    map_url: str
    scored_lines: bool = False
    scored_shards: bool = False  # a shard's name begins with the whole part of its documents' least score


RELEASES = {
    "mono/v3.0": Release("3.0", f"{HOST}/three/sorted/{{code}}.map", scored_shards=True),
    "mono/v2.0": Release("2.0", f"{HOST}/two/cleaned/{{code}}_map.txt"),
    "mono/v1.2": Release("1.2", f"{HOST}/one/monotext/cleaned/{{code}}_map.txt", scored_lines=True),
}
# Bosnian documents are found by their own code, but their lines are labelled with the macrolanguage's.
LINE_CODES = {"bos_Latn": "hbs_Latn"}


@dataclass(frozen=True)
class Document:
    """A document's lines with their languages and scores, and its own language and score."""

    lang: str
    score: float
    lines: list[str]
    line_langs: list[str]
    line_scores: list[float]


def release_of(dataset: str) -> Release:
    """The release that a dataset's name stands for; raises InputError for another name."""
    if dataset not in RELEASES:
        raise InputError(f"HPLT has no text {dataset!r} that can be imported, only {', '.join(RELEASES)}.")
    return RELEASES[dataset]


def shard_urls(lines: Iterator[str], release: Release, min_score: float) -> list[str]:
    """The shards that may hold documents of the score. Raises InputError for a list of something else."""
    urls = []
    for line in filter(None, map(str.strip, lines)):
        if not re.fullmatch(r"https?://\S+\.jsonl\.zst", line):
            raise InputError(f"The list of shards holds {line[:80]!r}, which is no address of a shard.")
        if not release.scored_shards or _shard_score(line) >= math.floor(min_score):
            urls.append(line)
    return urls


def read_document(line: str, release: Release) -> Document | None:
    """The document on a line of a shard; None for one that is broken."""
    try:
        fields = json.loads(line)
        document = _scored_lines(fields) if release.scored_lines else _scored_document(fields)
        is_whole = len(document.lines) == len(document.line_langs) == len(document.line_scores)
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    return document if is_whole else None


def _scored_document(fields: dict[str, Any]) -> Document:
    lines = _lines(fields)
    score = float(fields["doc_scores"][0])
    return Document(fields["lang"][0], score, lines, fields["seg_langs"], [score] * len(lines))


def _scored_lines(fields: dict[str, Any]) -> Document:
    scores = [float(score) for score in fields["scores"]]
    lines = _lines(fields)
    return Document(fields["document_lang"], max(scores, default=0.0), lines, fields["langs"], scores)


def _lines(fields: dict[str, Any]) -> list[str]:
    if not isinstance(fields["text"], str):
        raise TypeError("the text is no text")
    return fields["text"].split("\n")


def _shard_score(url: str) -> int:
    name = url.rsplit("/", 1)[-1]
    score = re.match(r"(\d+)_", name)
    if score is None:
        raise InputError(f"The shard {name} has no score at the start of its name, as in 10_1.jsonl.zst.")
    return int(score[1])
