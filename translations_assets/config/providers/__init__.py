"""The providers of datasets: one record each, of all that is known of it but how its files are fetched."""

from __future__ import annotations

from collections.abc import Mapping

from translations_assets.config.providers.held_out import FLORES, NTREX, TMX
from translations_assets.config.providers.hplt import HPLT
from translations_assets.config.providers.huggingface import HUB_MONO, HUB_PARALLEL
from translations_assets.config.providers.mtdata import MTDATA
from translations_assets.config.providers.news_crawl import NEWS_CRAWL
from translations_assets.config.providers.opus import OPUS, OPUS_MONO
from translations_assets.config.providers.own import DEMO, MONO_DEMO, MONO_URLS, URLS
from translations_assets.config.providers.provider import Provider
from translations_assets.config.providers.sacrebleu import SACREBLEU

PARALLEL: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (OPUS, MTDATA, SACREBLEU, FLORES, NTREX, TMX, HUB_PARALLEL, URLS, DEMO)
}
MONO: Mapping[str, Provider] = {
    provider.name: provider for provider in (OPUS_MONO, HUB_MONO, HPLT, NEWS_CRAWL, MONO_URLS, MONO_DEMO)
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
