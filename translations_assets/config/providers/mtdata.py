"""Corpora of mtdata's catalogue (https://github.com/thammegowda/mtdata), with the sizes of their files.

Most of the catalogue is OPUS, which is asked itself, and test sets that have providers of their own.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from subprocess import CalledProcessError
from tempfile import TemporaryDirectory

from translations_assets.common.own_files import read_own, write_own
from translations_assets.common.settings import state_folder
from translations_assets.config.errors import ConfigError, Problem, suggestion
from translations_assets.config.languages import Language
from translations_assets.config.providers.opus import version_order
from translations_assets.config.providers.provider import (
    Addresses,
    Found,
    Provider,
    Query,
    estimate,
    reason_of,
)
from translations_assets.config.web import ask, together

IMPORTER = "mtdata"
AT_ONCE = 16
# Group, corpus, version, and two languages.
FORM = re.compile(r"([^-]+)-(.+)-([^-]+)-([a-z]{3}[^-]*)-([a-z]{3}[^-]*)")
HELD_OUT = {
    "test": re.compile(r"(.*_)?test"),
    "devtest": re.compile(r"(.*_)?(dev|devtest|valid|val|tune)(_[a-z]{4})?"),  # wikipedia_dev_kmen
}

HUB = "huggingface.co/datasets/"
ON_THE_HUB = "it lies at the Hugging Face hub, from where mtdata's entries are not imported"


def find(query: Query) -> Iterator[Found | Problem]:
    """The catalogue's entries of the pair, by name; each corpus in its newest version."""
    try:
        known = catalogue()
    except ConfigError as error:
        yield from (replace(problem, key=IMPORTER) for problem in error.problems)
        return
    entries = list(_entries(known, query))
    uses = Counter(url for urls in known.values() for url in urls)
    wanted = [(each, urls) for each, urls in entries if not each.skipped]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        measured = pool.map(lambda entry: _measured(entry[0], entry[1], uses, query.mirror), wanted)
        by_key = {each.key: each for each in measured}
    found = [by_key.get(each.key, each) for each, _ in entries]
    yield from found
    if away := [each for each in found if each.skipped.startswith("no answer")]:
        first = f"{away[0].key}: {away[0].skipped}"
        yield Problem(f"{len(away)} of {len(wanted)} datasets cannot be reached; {first}", key=IMPORTER)


def _entries(known: Mapping[str, Sequence[str]], query: Query) -> Iterator[tuple[Found, Sequence[str]]]:
    """The entries of the pair, by name, with their addresses; older versions are marked as such."""
    pair = {query.src.iso639_3, query.trg.iso639_3}
    matches = [match for name in sorted(known) if (match := FORM.fullmatch(name))]
    matches = [match for match in matches if match[1] != "OPUS" and {match[4][:3], match[5][:3]} == pair]
    by_version = sorted(matches, key=lambda match: version_order(match[3]))
    newest = {match.group(1, 2): match[3] for match in by_version}
    for match in matches:
        latest, urls = newest[match.group(1, 2)], known[match[0]]
        skipped = reason_of(f"{match[1]}-{match[2]}", IMPORTER)
        if not skipped and any(HUB in url for url in urls):
            skipped = ON_THE_HUB
        if not skipped and match[3] != latest:
            skipped = f"{latest} is newer"
        yield Found(IMPORTER, f"mtdata_{match[0]}", _use(match[2]), url=urls[0], skipped=skipped), urls


def _use(corpus: str) -> str:
    return next((use for use, form in HELD_OUT.items() if form.fullmatch(corpus)), "train")


def _measured(entry: Found, urls: Sequence[str], uses: Mapping[str, int], mirror: str) -> Found:
    """The entry with the size of its files; a file that several entries share tells nothing of one."""
    answer = together([ask(url, mirror) for url in urls])
    if answer.problem:
        return replace(entry, skipped=answer.problem)
    if any(uses[url] > 1 for url in urls):
        return replace(entry, bytes=answer.size, extent="part of an archive")
    return replace(entry, bytes=answer.size, sentences=estimate(answer.size), estimated=True)


@cache
def catalogue() -> Mapping[str, list[str]]:
    """The names of mtdata's datasets with their addresses, kept in the state folder, by its version.

    Where that folder cannot be written, each process builds it. Raises ConfigError when it cannot be built.
    """
    kept = state_folder() / f"mtdata-{version('mtdata')}.json"
    with suppress(OSError, ValueError):
        return dict(json.loads(read_own(kept)))
    text = _build()
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        write_own(kept, text)
    return dict(json.loads(text))


def _build() -> str:
    """The catalogue as JSON, made by a process of its own (20 s).

    mtdata makes it when it is imported, in a folder that it reads from the environment, which takes 140 MB.
    """
    try:
        with TemporaryDirectory() as folder:
            new = Path(folder, "catalogue.json")
            command = [sys.executable, "-c", _WRITE_CATALOGUE, str(new)]
            environment = {**os.environ, "MTDATA": folder}
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            return new.read_text(encoding="utf-8")
    except (OSError, CalledProcessError) as error:
        lines = error.stderr.strip().splitlines() if isinstance(error, CalledProcessError) else []
        raise ConfigError.of(
            f"mtdata's catalogue cannot be built: {lines[-1] if lines else error}"
        ) from error


_WRITE_CATALOGUE = """
import json, sys
from mtdata.index import INDEX
urls = {str(did): entry.url for did, entry in INDEX.entries.items()}
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({name: [url] if isinstance(url, str) else url for name, url in urls.items()}, file)
"""


def _addresses(name: str, *sides: Language) -> Addresses:
    known = catalogue()
    if name not in known:
        of_pair = [other for other in known if other.split("-")[-2:] == name.split("-")[-2:]]
        raise ConfigError.of(f"mtdata has no such dataset.{suggestion(name, of_pair)}")
    return [[url] for url in known[name]]


def _check(name: str) -> None:
    """Datasets of 2021 had names without publisher, number and languages: `JW300`."""
    if name.startswith("JW300"):
        raise ConfigError.of(
            f"'mtdata_{name}' was withdrawn: the owner of its text does not allow its use; remove it"
        )
    if re.fullmatch(r"[A-Za-z0-9_.]+", name):
        raise ConfigError.of(
            f"'mtdata_{name}' is a name of 2021, which mtdata has no more; its names are as "
            f"{MTDATA.example}. `translations find-corpus SRC TRG` lists them; what was newstest2019 is "
            "sacrebleu_wmt19"
        )


# Codes by which mtdata names some languages besides those of the table: macrolanguages and their members.
OTHER_CODES = {
    "nor": {"nob", "nno"},
    **dict.fromkeys(("nob", "nno"), {"nor"}),
    **dict.fromkeys(("srp", "hrv", "bos"), {"hbs"}),
    "msa": {"zsm", "zlm"},
    "aze": {"azb"},
}


def _misfit(name: str, src: Language, trg: Language) -> str:
    named = [part.partition("_")[0] for part in name.split("-")[-2:]]
    if not all(len(code) == 3 for code in named):
        return ""  # reported by the schema
    if _are_of(named, src, trg) or _are_of(named, trg, src):
        return ""
    return f"is of {' and '.join(named)}, and the config of {src.iso639_3} and {trg.iso639_3}"


def _are_of(codes: Sequence[str], *spoken: Language) -> bool:
    return all(
        code in {known.iso639_3, known.flores[:3], known.hplt[:3], *OTHER_CODES.get(known.iso639_3, ())}
        for code, known in zip(codes, spoken, strict=True)
    )


MTDATA = Provider(
    "mtdata",
    lambda name, spoken: spoken.iso639_3,
    example="mtdata_Tilde-airbaltic-1-eng-rus",
    form=r"[^-]+-.+-[^-]+(-[a-z]{3}(_[^\W_]+)*){2}",
    check=_check,
    misfit=_misfit,
    addresses=_addresses,
    secrets=("HF_TOKEN",),  # entries' files lie anywhere
    searches={IMPORTER: find},
)
