"""Corpora of mtdata's catalogue (https://github.com/thammegowda/mtdata), with the sizes of their files.

Most of the catalogue is OPUS, which is asked itself, and test sets that have providers of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from subprocess import CalledProcessError

from translations_assets.config.online import ask, mtdata_catalogue
from translations_assets.generate.found import Found, Problem, Query, estimate, reason_of
from translations_assets.generate.opus import version_order

IMPORTER = "mtdata"
AT_ONCE = 16
# Group, corpus, version, and two languages.
FORM = re.compile(r"([^-]+)-(.+)-([^-]+)-([a-z]{3}[^-]*)-([a-z]{3}[^-]*)")
HELD_OUT = {
    "test": re.compile(r"(.*_)?test"),
    "devtest": re.compile(r"(.*_)?(dev|devtest|valid|val|tune)(_[a-z]{4})?"),  # wikipedia_dev_kmen
}

# Why entries are left out, by group and corpus, or by an address.
SKIPPED = {
    r"ELRC-.*": "the corpora of ELRC come from OPUS",
    r"Statmt-opus": "it comes from OPUS",
    r"UN-un(v1)?(_.*)?": "the corpus of the UN comes from OPUS",
    r".*-flores.*": "FLORES has a provider of its own",
    r".*-ntrex.*": "NTREX has a provider of its own",
    r".*-(newstest|newsdev|generaltest|wmt24pp).*": "a test set of WMT; sacreBLEU has those",
    r".*-(ted|tedtalks|iwslt15)(_.*)?|StanfordNLP-test201\d": "TED talks, which OPUS has",
    r"Statmt-backtrans_.*": "translated by a machine",
    r"StanfordNLP-wmt1\d_train": "made of other corpora",
}
HUB = "huggingface.co/datasets/"
ON_THE_HUB = "it lies at the Hugging Face hub, from where mtdata's entries are not imported"


@dataclass(frozen=True)
class _Entry:
    group: str
    corpus: str
    version: str
    urls: tuple[str, ...]
    found: Found


def find(query: Query) -> Iterator[Found | Problem]:
    """The catalogue's entries of the pair, by name; each corpus in its newest version."""
    try:
        catalogue = mtdata_catalogue()
    except CalledProcessError as error:
        lines = error.stderr.strip().splitlines()
        yield Problem(IMPORTER, f"mtdata's catalogue cannot be built: {lines[-1] if lines else error}")
        return
    entries = _only_newest(_entries(catalogue, query))
    uses = Counter(url for urls in catalogue.values() for url in urls)
    wanted = [entry for entry in entries if not entry.found.skipped]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        sizes = pool.map(lambda each: _measured(each, uses, query.mirror), wanted)
        measured = dict(zip(wanted, sizes, strict=True))
    found = [measured.get(entry, entry.found) for entry in entries]
    yield from found
    if away := [each for each in found if each.skipped.startswith("no answer")]:
        first = f"{away[0].key}: {away[0].skipped}"
        yield Problem(IMPORTER, f"{len(away)} of {len(wanted)} datasets cannot be reached; {first}")


def _entries(catalogue: Mapping[str, Sequence[str]], query: Query) -> list[_Entry]:
    pair = {query.src.mtdata, query.trg.mtdata}
    entries = []
    for name in sorted(catalogue):
        parts = FORM.fullmatch(name)
        if parts is None or parts[1] == "OPUS" or {parts[4][:3], parts[5][:3]} != pair:
            continue
        urls = tuple(catalogue[name])
        skipped = _skipped(f"{parts[1]}-{parts[2]}", urls)
        found = Found(IMPORTER, f"mtdata_{name}", _use(parts[2]), url=urls[0], skipped=skipped)
        entries.append(_Entry(parts[1], parts[2], parts[3], urls, found))
    return entries


def _skipped(name: str, urls: Sequence[str]) -> str:
    return reason_of(name, SKIPPED) or (ON_THE_HUB if any(HUB in url for url in urls) else "")


def _use(corpus: str) -> str:
    return next((use for use, form in HELD_OUT.items() if form.fullmatch(corpus)), "train")


def _only_newest(entries: Sequence[_Entry]) -> list[_Entry]:
    """The entries, older versions marked as such."""
    newest: dict[tuple[str, str], str] = {}
    for entry in sorted(entries, key=lambda entry: version_order(entry.version)):
        newest[entry.group, entry.corpus] = entry.version
    return [_marked(entry, newest[entry.group, entry.corpus]) for entry in entries]


def _marked(entry: _Entry, newest: str) -> _Entry:
    if entry.version == newest or entry.found.skipped:
        return entry
    return replace(entry, found=replace(entry.found, skipped=f"{newest} is newer"))


def _measured(entry: _Entry, uses: Mapping[str, int], mirror: str) -> Found:
    """The entry with the size of its files; a file that several entries share tells nothing of one."""
    answers = [ask(url, mirror) for url in entry.urls]
    if problem := next((answer.problem for answer in answers if answer.problem), ""):
        return replace(entry.found, skipped=problem)
    sizes = [answer.size for answer in answers if answer.size is not None]
    size = sum(sizes) if len(sizes) == len(answers) else None
    if any(uses[url] > 1 for url in entry.urls):
        return replace(entry.found, bytes=size, extent="part of an archive")
    return replace(entry.found, bytes=size, sentences=estimate(size), estimated=True)
