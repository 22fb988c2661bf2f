"""The providers of datasets: one record each, of all that is known of it but how its files are fetched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from translations_assets.config.errors import ConfigError
from translations_assets.config.languages import Language
from translations_assets.config.providers.held_out import FLORES, NTREX, SACREBLEU, TMX
from translations_assets.config.providers.hub_sets import BOUQUET, FLORES_PLUS, WMT24PP
from translations_assets.config.providers.huggingface import HUB_MONO, HUB_PARALLEL
from translations_assets.config.providers.monolingual import HPLT, NEWS_CRAWL
from translations_assets.config.providers.mtdata import MTDATA
from translations_assets.config.providers.opus import OPUS, OPUS_MONO
from translations_assets.config.providers.provider import Addresses, Provider
from translations_assets.config.urls import PLACEHOLDER

# Text of one's own, behind URLs, and the generated text of the demo
_DEMO = ("en", "eo")
# A relative path, which is written out where there is a config's file
FROM_NOWHERE = "the path {!r} counts from the config's file, and here is none; write one that begins with /"


def _url_addresses(name: str, *sides: Language) -> Addresses:
    return [[name.replace(PLACEHOLDER, side.code)] for side in sides]


def _check_pair(name: str) -> None:
    if PLACEHOLDER not in name:
        raise ConfigError.of(f"the URL needs the placeholder {PLACEHOLDER} where the language's code goes")


def _path_addresses(name: str, *sides: Language) -> Addresses:
    return [[f"file://{quote(name.replace(PLACEHOLDER, side.code))}"] for side in sides]


def _check_path(name: str) -> None:
    if not name.startswith("/"):
        raise ConfigError.of(FROM_NOWHERE.format(name))


def _check_path_of_pair(name: str) -> None:
    if PLACEHOLDER not in name:
        raise ConfigError.of(
            f"{name!r} is neither the key of a dataset, such as opus_ParaCrawl/v9, nor a path with the "
            f"placeholder {PLACEHOLDER} where the language's code goes"
        )
    _check_path(name)


def _demo_code(name: str, spoken: Language) -> str:
    return spoken.code if spoken.code in _DEMO else ""


MONO_URLS = Provider("url", lambda name, spoken: spoken.code, by_url=True, addresses=_url_addresses)
URLS = replace(MONO_URLS, check=_check_pair)
# Files of this machine, which count by their contents
MONO_FILE = Provider(
    "file",
    lambda name, spoken: spoken.code,
    title="a file",
    is_path=True,
    form=r"(?s:.+)",
    check=_check_path,
    addresses=_path_addresses,
)
FILE = replace(MONO_FILE, check=_check_path_of_pair)
_DEMO_TITLE = f"the demo corpus ({', '.join(_DEMO)})"
DEMO = Provider("demo", _demo_code, title=_DEMO_TITLE, sets=("train", "dev", "test"))
MONO_DEMO = Provider("demo", _demo_code, title=_DEMO_TITLE, sets=("mono",))

PARALLEL: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        *(OPUS, MTDATA, SACREBLEU, FLORES, FLORES_PLUS, NTREX, WMT24PP, BOUQUET),
        *(TMX, HUB_PARALLEL, URLS, FILE, DEMO),
    )
}
MONO: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (OPUS_MONO, HUB_MONO, HPLT, NEWS_CRAWL, MONO_URLS, MONO_FILE, MONO_DEMO)
}
PROVIDERS = (*PARALLEL.values(), *MONO.values())
BY_URL = frozenset(provider.name for provider in PROVIDERS if provider.by_url)

# Of Snakemake, with what takes their place.
FORMER = {
    "custom-corpus": "files are named url_file:///folder/name.[LANG].gz now",
    "custom-mono": "a file is named url_file:///folder/name.gz now",
    "commoncrawl": "hplt_mono/v3.0 has text of the web now",
    "paracrawl-mono": "hplt_mono/v3.0 has text of the web now",
}
