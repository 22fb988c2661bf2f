"""Where the datasets and models of a config lie, so that they can be looked up before any work.

A function for each provider, as in the scripts that fetch them (`pipeline/data`): they are the authority.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from translations_assets.config.check_continuation import urls_of
from translations_assets.config.datasets import PLACEHOLDER, Dataset, listed
from translations_assets.config.edits import at
from translations_assets.config.languages import Language, languages
from translations_assets.config.urls import shown
from translations_assets.config.yaml_reader import KeyPath

OPUS = "https://object.pouta.csc.fi/OPUS-"
NEWS_CRAWL = "http://data.statmt.org/news-crawl"
FLORES = "https://dl.fbaipublicfiles.com/nllb/flores200_dataset.tar.gz"
NTREX = "https://github.com/MicrosoftTranslator/NTREX/raw/468c6b6/NTREX-128"
PONTOON = "https://pontoon.mozilla.org/translation-memory"
HPLT: Mapping[str, Callable[[Language], str]] = {
    "mono/v3.0": lambda lang: f"three/sorted/{lang.hplt}.map",
    "mono/v2.0": lambda lang: f"two/cleaned/{lang.hplt2}_map.txt",
    "mono/v1.2": lambda lang: f"one/monotext/cleaned/{lang.iso639_1}_map.txt",
}
HUB = "https://huggingface.co/api/datasets/"

# All of the outer list are needed; of an inner one, the first that exists.
Addresses: TypeAlias = "list[list[str]]"


@dataclass(frozen=True)
class Wanted:
    """What a key of a config names, and where it lies."""

    path: KeyPath
    name: str
    addresses: Addresses


def addresses(config: Mapping[str, Any], mtdata: Mapping[str, Sequence[str]]) -> Iterator[Wanted]:
    """The addresses of all datasets and models of a config as it was read.

    `mtdata` holds the addresses of mtdata's datasets. What cannot be looked up (`demo`, which is made here,
    and names that are wrong in themselves) is left out.
    """
    pair = [languages().get(str(at(config, ("experiment", side)))) for side in ("src", "trg")]
    if pair[0] and pair[1]:
        for path, dataset, sides in _datasets(config, pair[0], pair[1]):
            found: Addresses = [[url] for url in mtdata.get(dataset.name, ())]
            if dataset.provider != "mtdata":
                find = (MONO if len(sides) == 1 else PARALLEL).get(dataset.provider)
                found = find(dataset.name, *sides) if find else []
            if found:
                yield Wanted(path, dataset.shown_key, found)
    metric = at(config, ("experiment", "best-model")) or "chrf"
    for path, url in urls_of(config):
        yield Wanted(path, shown(url), _model(url, metric) if "models" in path else [[url]])


def mtdata_names(config: Mapping[str, Any]) -> dict[str, KeyPath]:
    """The names of mtdata's datasets in a config, with the path of the first key that has each."""
    names: dict[str, KeyPath] = {}
    for category in ("train", "devtest", "test"):
        for index, dataset in listed(config, category):
            if dataset.provider == "mtdata":
                names.setdefault(dataset.name, ("datasets", category, index))
    return names


def _datasets(
    config: Mapping[str, Any], src: Language, trg: Language
) -> Iterator[tuple[KeyPath, Dataset, tuple[Language, ...]]]:
    both = (src, trg)
    categories = {"train": both, "devtest": both, "test": both, "mono-src": (src,), "mono-trg": (trg,)}
    for category, sides in categories.items():
        for index, dataset in listed(config, category):
            yield ("datasets", category, index), dataset, sides


def _opus(name: str, src: Language, trg: Language) -> Addresses:
    folder = f"{OPUS}{name}/moses"
    return [[f"{folder}/{src.opus}-{trg.opus}.txt.zip", f"{folder}/{trg.opus}-{src.opus}.txt.zip"]]


def _sacrebleu(name: str, src: Language, trg: Language) -> Addresses:
    from sacrebleu.dataset import DATASETS

    files: list[str] = (DATASETS[name].data or []) if name in DATASETS else []
    pairs = (f"{src.opus}-{trg.opus}", f"{trg.opus}-{src.opus}")
    own = [url for url in files if any(pair in url for pair in pairs)]
    return [own] if own else [[url] for url in files]


def _flores(name: str, src: Language, trg: Language) -> Addresses:
    return [[FLORES]]


def _ntrex(name: str, src: Language, trg: Language) -> Addresses:
    return [[_ntrex_file(side.ntrex)] for side in (src, trg) if side.ntrex]


def _ntrex_file(code: str) -> str:
    return f"{NTREX}/newstest2019-{'src' if code == 'eng' else 'ref'}.{code}.txt"


def _tmx(name: str, src: Language, trg: Language) -> Addresses:
    if "://" in name:
        return [[name]]
    other = trg if src.code == "en" else src
    return [[f"{PONTOON}/{other.pontoon}.all-projects.tmx"]]


def _url(name: str, *sides: Language) -> Addresses:
    return [[name.replace(PLACEHOLDER, side.code)] for side in sides]


def _opus_mono(name: str, lang: Language) -> Addresses:
    return [[f"{OPUS}{name}/mono/{lang.opus}.txt.gz"]]


def _news_crawl(name: str, lang: Language) -> Addresses:
    code = lang.news_crawl
    return [[f"{NEWS_CRAWL}/{code}/{name}.{code}.shuffled.deduped.gz"]]


def _hplt(name: str, lang: Language) -> Addresses:
    return [[f"https://data.hplt-project.org/{HPLT[name](lang)}"]] if name in HPLT else []


def _hub(name: str, *sides: Language) -> Addresses:
    return [[HUB + name.partition(":")[0]]]


def _model(url: str, metric: str) -> Addresses:
    """A model's folder, told by its weights, or by itself where a server shows folders."""
    folder = url.rstrip("/")
    names = (f"final.model.npz.best-{metric}.npz", f"model.npz.best-{metric}.npz", "model.npz")
    return [[*(f"{folder}/{name}" for name in names), url]]


PARALLEL: Mapping[str, Callable[..., Addresses]] = {
    "opus": _opus,
    "sacrebleu": _sacrebleu,
    "flores": _flores,
    "ntrex": _ntrex,
    "tmx": _tmx,
    "url": _url,
    "hfp": _hub,
}
MONO: Mapping[str, Callable[..., Addresses]] = {
    "opus": _opus_mono,
    "news-crawl": _news_crawl,
    "url": _url,
    "hplt": _hplt,
    "hf": _hub,
}
