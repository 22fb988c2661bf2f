"""Fetches the model that Firefox ships for a language pair, from Mozilla's Remote Settings.

    python -m pipeline.eval.released --src en --trg ru --output released

writes

    model.tar       the files as Firefox unpacks them: model, vocabulary or vocabularies, and the shortlist
    records.json    what Remote Settings says of them
    stats.json      the version, and what was fetched from where

Of all records of a pair those count which Firefox sees on a desktop, on the release channel, and of them the
newest version. Each file must have the SHA-256 of its record, packed and unpacked.
"""

import argparse
import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlencode

from pipeline.common.downloads import fetch
from pipeline.common.errors import InputError
from pipeline.common.packed import pack
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.common.web import Source
from pipeline.eval.unpacking import unpack_file

SERVER = "https://firefox.settings.services.mozilla.com/v1"
ATTACHMENTS = "https://firefox-settings-attachments.cdn.mozilla.net"
RECORDS = "buckets/main/collections/translations-models-v2/records"
# What a record's filter, an expression in JEXL, is asked about: Firefox on a desktop, on the release channel.
ENVIRONMENT = {"env.channel": "release", "env.appinfo.OS": "WINNT"}
TERM = re.compile(r"\s*([\w.]+)\s*([=!]=)\s*['\"]([^'\"]*)['\"]\s*")
VOCABULARIES = (("vocab",), ("srcvocab", "trgvocab"))

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """What Remote Settings says of a file; digests are SHA-256 in hexadecimal.

    kind      `model`, `lex`, `vocab`, `srcvocab`, `trgvocab`, or what engines have no need of
    seen_by   which Firefox sees it, an expression in JEXL; "" for all of them
    location  of the packed file, below the address of attachments
    """

    name: str
    kind: str
    pair: tuple[str, str]
    version: str
    seen_by: str
    location: str
    packed_hash: str
    hash: str
    told: Mapping[str, Any]

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> "Record":
        """Read a record; raises KeyError or TypeError for one of another layout."""
        packed = told["attachment"]
        return cls(
            name=PurePosixPath(told["name"]).name,
            kind=told["fileType"],
            pair=(told["sourceLanguage"], told["targetLanguage"]),
            version=told["version"],
            seen_by=told.get("filter_expression") or "",
            location=packed["location"],
            packed_hash=packed["hash"],
            hash=told["decompressedHash"],
            told=told,
        )


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = _parser().parse_args(argv)
    with staged(args.output) as (output, scratch):
        chosen = choose(ask(args.server, (args.src, args.trg), scratch), (args.src, args.trg))
        version = chosen[0].version
        log.info("Version %s: %s", version, ", ".join(record.name for record in chosen))
        files = scratch / "files"
        files.mkdir()
        sources = [fetch_record(record, args.attachments, files, scratch) for record in chosen]
        pack(files, output / "model.tar")
        write_json(output / "records.json", [record.told for record in chosen])
        write_json(
            output / "stats.json",
            {"revision": version, "source": [asdict(source) for source in sources]},
        )


def ask(server: str, pair: tuple[str, str], scratch: Path) -> list[Record]:
    """The records of a pair; InputError when they have another layout."""
    query = urlencode({"sourceLanguage": pair[0], "targetLanguage": pair[1]})
    try:
        fetch(f"{server}/{RECORDS}?{query}", scratch / "records.json")
        told = json.loads((scratch / "records.json").read_bytes())["data"]
        return [Record.read(record) for record in told]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{server} does not answer as Remote Settings did when this was written ({error!r}). Try again "
            "later; if it stays so, name the model's files in final-evaluation.models."
        ) from error


def choose(records: Iterable[Record], pair: tuple[str, str]) -> list[Record]:
    """The records of the newest whole model that is released; InputError when there is none."""
    versions: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        if record.pair == pair and is_released(record.seen_by):
            versions.setdefault((record.version, record.seen_by), {})[record.kind] = record
    for _, found in sorted(versions.items(), key=lambda item: _age(item[0][0]), reverse=True):
        for vocabularies in VOCABULARIES:
            if found.keys() >= {"model", *vocabularies}:
                return [found[kind] for kind in ("model", *vocabularies, "lex") if kind in found]
    raise InputError(
        f"Firefox ships no model from {pair[0]} to {pair[1]} (pairs without English it translates by way of "
        "English). Set final-evaluation.released to false, or name another translator."
    )


def is_released(seen_by: str) -> bool:
    """Whether Firefox on a desktop, on the release channel, sees a record with such a filter.

    Mozilla's filters are comparisons, joined by `||` and `&&`, such as "env.appinfo.OS != 'Android'"; another
    term counts as false, and is logged.
    """
    clauses = seen_by.split("||")
    return not seen_by.strip() or any(all(map(_holds, clause.split("&&"))) for clause in clauses)


def _holds(term: str) -> bool:
    parts = TERM.fullmatch(term)
    if parts is None or parts[1] not in ENVIRONMENT:
        log.warning("A filter of Remote Settings is not understood, and counts as false: %s", term.strip())
        return False
    return (ENVIRONMENT[parts[1]] == parts[3]) == (parts[2] == "==")


def fetch_record(record: Record, attachments: str, folder: Path, scratch: Path) -> Source:
    """Fetch a record's file and unpack it to the record's name; InputError for another file."""
    packed = scratch / PurePosixPath(record.location).name
    source = fetch(f"{attachments}/{record.location}", packed, record.packed_hash)
    unpack_file(packed, folder / record.name)
    digest = hashlib.sha256((folder / record.name).read_bytes()).hexdigest()
    if digest != record.hash:
        raise InputError(
            f"{record.name} has the SHA-256 {digest}, where its record in Remote Settings says "
            f"{record.hash}. Fetch it again; if it stays so, look into the mirror that it came from."
        )
    return source


def _age(version: str) -> tuple[int, ...]:
    """By which versions are sorted: 3.1 is newer than 3.0, and 3.0 than its trials, 3.0a2 and 3.0a1."""
    numbers, trial = re.fullmatch(r"([\d.]*)(.*)", version, re.DOTALL).groups()  # type: ignore[union-attr]
    parts = [int(number) for number in numbers.split(".") if number]
    return (*(parts + [0, 0, 0])[:3], not trial, *(int(number) for number in re.findall(r"\d+", trial)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language as Firefox knows it: en, pt, zh-Hans")
    add("--trg", required=True, help="target language")
    add("--server", default=SERVER, help=f"Remote Settings, by default {SERVER}")
    add("--attachments", default=ATTACHMENTS, help=f"its files, by default {ATTACHMENTS}")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser


if __name__ == "__main__":
    run(main)
