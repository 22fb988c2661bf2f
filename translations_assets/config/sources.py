"""The datasets and models that a config names: whether they may be read, whether they exist, and their sizes.

On the command line of one's own machine any file of one's own may be named. In pods, in runs that the UI
launches and in pasted configs files must lie below folders that the deployment names, or in the mirror;
scripts ask again where they read. Files that are named by their paths are read where the run is directed,
and may lie beside the config's own file, too. Servers are asked for existence and sizes; where a provider's
files lie stands in its record, as in the script that fetches them, which is the authority.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from translations_assets.config.datasets import Pair, listed, pair_of, provider_of, sides_of
from translations_assets.config.errors import ConfigError
from translations_assets.config.evaluation import own_documents
from translations_assets.config.known import of_scripts
from translations_assets.config.own_paths import prompts
from translations_assets.config.providers import BY_URL, FILE, FROM_NOWHERE
from translations_assets.config.providers.provider import Addresses
from translations_assets.config.schema import TrainingConfig
from translations_assets.config.section import urls_in
from translations_assets.config.translators import SECTION as TRANSLATORS
from translations_assets.config.urls import PLACEHOLDER, shown
from translations_assets.config.web import Answer, ask, together
from translations_assets.config.yaml_reader import Found, KeyPath, at

# pipeline.common.local_files tells why.
NEVER: Sequence[str] = of_scripts("never read")
AT_ONCE = 16


def check_files(config: Mapping[str, Any], folders: Sequence[str]) -> Found:
    """The key path and message of every file:// URL whose file must not be read; `folders` may be."""
    for path, url in _urls(config):
        if url.startswith("file://"):
            with suppress(ValueError):  # of what can be no path, which is reported elsewhere
                file = unquote(urlsplit(url.replace(PLACEHOLDER, "LANG")).path)
                if message := _refusal(file, folders):
                    yield path, message


@dataclass(frozen=True)
class Readable:
    """Files of this machine that a config may name by path; links are resolved before the check.

    folders   below which they lie
    keys      files and folders with keys of the person who reads, which are never named, wherever they lie
    is_known  whether a file is there, or was
    """

    folders: Sequence[str]
    keys: Sequence[str] = ()
    is_known: Callable[[str], bool] = os.path.isfile


def check_paths(config: Mapping[str, Any], readable: Readable) -> Found:
    """The key path and message of all files named by paths that must not be read, or are not there.

    A folder that is not there is reported once, not for each of its files.
    """
    absent = set[str]()
    given = [*prompts(config)]
    yield from ((path, FROM_NOWHERE.format(file)) for path, file in given if not file.startswith("/"))
    for path, file in dict.fromkeys([*_own_files(config), *own_documents(config), *given]):
        if not file.startswith("/"):
            continue
        if message := _refusal(file, readable.folders, readable.keys):
            yield path, message
        elif not readable.is_known(file):
            folder = os.path.dirname(file)
            if os.path.isdir(folder):
                yield path, f"there is no file {file}"
            elif folder not in absent:
                absent.add(folder)
                yield path, f"there is no folder {folder}"


def _own_files(config: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    pair = pair_of(config)
    for path, dataset in listed(config):
        if dataset.provider == FILE.name:
            for side in filter(None, sides_of(path, pair)):
                yield path, dataset.file(side.code)


def _refusal(path: str, folders: Sequence[str], keys: Sequence[str] = ()) -> str:
    """Explain why a file must not be read; empty when it may be. ValueError for what can be no path."""
    real = os.path.realpath(path)
    if _is_below(real, NEVER):
        return f"{path} is a file of the system, which no config may name"
    if _is_below(real, keys):
        return f"{path} is a file with keys, which no config may name"
    if _is_below(real, folders):
        return ""
    allowed = f"below {', '.join(folders)}" if folders else "in a mirror"
    return (
        f"{path} must not be read here: files may lie {allowed}; put it there, or have its folder named in "
        "the deployment file (`files` of the cluster) or in TRANSLATIONS_FILES"
    )


def _urls(config: Mapping[str, Any]) -> Found:
    for path, dataset in listed(config):
        if dataset.provider in BY_URL:
            yield path, dataset.name
    yield from urls_in(config, TrainingConfig)


def _is_below(real: str, folders: Sequence[str]) -> bool:
    return any(Path(real).is_relative_to(os.path.realpath(folder)) for folder in folders)


@dataclass(frozen=True)
class Wanted:
    """A file that a key of a config names, with its location, or the reason that it has none."""

    path: KeyPath
    name: str
    addresses: Addresses
    problem: str = ""


def look_up(config: Mapping[str, Any], mirror: str = "") -> list[tuple[Wanted, Answer]]:
    """Look up all that a config, as it was read, names; `mirror` is a folder or `gs://bucket/prefix`.

    The sizes of several files of one dataset or model are added up.
    """
    wanted = list(addresses(config))
    files = sorted({tuple(urls) for each in wanted for urls in each.addresses})
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = dict(zip(files, pool.map(lambda urls: _first(urls, mirror), files), strict=True))
    of_each = ([answers[tuple(urls)] for urls in each.addresses] for each in wanted)
    return [(each, together(found, each.problem)) for each, found in zip(wanted, of_each, strict=True)]


def addresses(config: Mapping[str, Any]) -> Iterator[Wanted]:
    """The addresses of all datasets and models of a config as it was read.

    What cannot be looked up (`demo`, which is made here, and names that are wrong in themselves) is left out.
    """
    pair = pair_of(config)
    for path, dataset in listed(config) if all(pair) else ():
        provider = provider_of(dataset, path)
        try:
            found = provider.addresses(dataset.name, *sides_of(path, pair)) if provider else []
        except ConfigError as error:
            yield Wanted(path, dataset.shown_key, [], str(error))
            continue
        if found:
            yield Wanted(path, dataset.shown_key, found)
    for path, url in urls_in(config, TrainingConfig):
        yield Wanted(path, shown(url), _behind(config, path, url, pair))


def _behind(config: Mapping[str, Any], path: KeyPath, url: str, pair: Pair) -> Addresses:
    """The addresses of what a URL of a config names: a file, or a model's folder."""
    metric = at(config, ("experiment", "best-model")) or "chrf"
    if path[0] == TRANSLATORS:
        return _model(url, metric, pair) if path[2] == "marian" else _release(url)
    if path[1] == "models":
        form = at(config, (*path[:-1], "form")) or "marian"
        return _model(url, metric, pair) if form == "marian" else _compared(url, form, pair)
    return [[url]]


def _release(url: str) -> Addresses:
    """A model of OPUS-MT: an archive, or a folder, recognised by its options of decoding."""
    return [[url, f"{url.rstrip('/')}/decoder.yml"]]


def _model(url: str, metric: str, pair: Pair) -> Addresses:
    """A model's folder, recognised by its weights, or by itself where a server shows folders."""
    exported = (f"model.{_together(pair)}.{end}" for end in ("intgemm.alphas.bin", "intgemm8.bin"))
    best = (f"{prefix}model.npz.best-{metric}.npz" for prefix in ("final.", ""))
    return [[*(f"{url.rstrip('/')}/{name}" for name in (*best, "model.npz", *exported)), url]]


def _compared(url: str, form: object, pair: Pair) -> Addresses:
    """A folder in another form than Marian's, recognised by its weights."""
    ends = [f"intgemm{kind}.bin{packed}" for kind in (".alphas", "8") for packed in ("", ".zst", ".gz")]
    names = [f"model.{_together(pair)}.{end}" for end in ends] if form == "firefox" else ["model.bin"]
    return [[f"{url.rstrip('/')}/{name}" for name in names]]


def _together(pair: Pair) -> str:
    return "".join(spoken.code for spoken in pair if spoken)


def _first(urls: Sequence[str], mirror: str) -> Answer:
    """Ask for a file at each of some addresses, and return the answer that counts."""
    problems = []
    for url in urls:
        answer = ask(url, mirror)
        if not answer.problem:
            return answer
        problems.append(answer.problem)
    return Answer(problem="; ".join(problems))
