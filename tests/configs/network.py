"""A network for tests: a mirror with answers as those of the real servers, and nothing beyond it.

English to Lithuanian, with what a search must cope with: corpora listed twice and in old versions, sets that
are too small, test sets among the training data, doubles of OPUS in mtdata, files that are gone.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests

OPUS_API = "https://opus.nlpl.eu/opusapi/?source=en&target=lt&preprocessing=moses&version=latest"
LICENCE_OF = "https://raw.githubusercontent.com/Helsinki-NLP/OPUS/main/corpus/{}/info.yaml"
HUB_API = (
    "https://huggingface.co/api/datasets?filter=language:en&filter=language:lt"
    "&sort=downloads&direction=-1&limit=100&full=true"
)
NLLB = "https://object.pouta.csc.fi/OPUS-NLLB/v1/mono/{}.txt.gz"
NEWS = "http://data.statmt.org/news-crawl/{}/"
HPLT = "https://data.hplt-project.org/three/sorted/{}.map"

CATALOGUE: dict[str, list[str]] = {
    "OPUS-europarl-v8-eng-lit": ["https://object.pouta.csc.fi/OPUS-Europarl/v8/moses/en-lt.txt.zip"],
    "ELRC-www.lrs.lt-1-eng-lit": ["https://elrc-share.eu/repository/download/4486f8e4/"],
    "Statmt-europarl-9-lit-eng": ["http://www.statmt.org/europarl/v9/training/europarl-v9.lt-en.tsv.gz"],
    "Statmt-europarl-10-lit-eng": ["http://www.statmt.org/europarl/v10/training/europarl-v10.lt-en.tsv.gz"],
    "Statmt-newsdev_enlt-2019-eng-lit": ["http://data.statmt.org/wmt20/translation-task/dev.tgz"],
    "Neulab-tedtalks_test-1-eng-lit": ["http://phontron.com/data/ted_talks.tar.gz"],
    "Flores-flores200_dev-1-eng-lit": ["https://tinyurl.com/flores200dataset"],
    "Google-wmt24pp-1-eng-lit_LT": ["https://huggingface.co/datasets/google/wmt24pp"],
    "Tilde-rapid-2016-eng-lit": ["https://tilde.example/rapid2016.en-lt.tmx.zip"],
    "Tilde-airbaltic-1-eng-lit": ["https://tilde.example/airbaltic.en-lt.tmx.zip"],
    "Tilde-czechtourism-1-eng-lit": ["https://tilde.example/gone.zip"],
    "EU-dcep-1-eng-lit": [
        "http://data.statmt.org/DCEP/EN-LT.en.xz",
        "http://data.statmt.org/DCEP/EN-LT.lt.xz",
    ],
    "EU-eac_forms-1-eng-lit": ["https://wt-public.emm4u.eu/Resources/EAC-TM/EAC-TM-all.zip"],
    "EU-eac_forms-1-eng-lav": ["https://wt-public.emm4u.eu/Resources/EAC-TM/EAC-TM-all.zip"],
    "Lindat-khresmoi_summary_dev-2-eng-lit": ["https://lindat.example/khresmoi.zip"],
    "Lindat-khresmoi_summary_test-2-eng-lit": ["https://lindat.example/khresmoi.zip"],
    "Lindat-khresmoi_summary_test-2-eng-pol": ["https://lindat.example/khresmoi.zip"],
    "Statmt-news_crawl-2019-lit": ["http://data.statmt.org/news-crawl/lt/news.2019.lt.shuffled.deduped.gz"],
}
SIZES = {
    "http://www.statmt.org/europarl/v10/training/europarl-v10.lt-en.tsv.gz": 60_000_000,
    "https://tilde.example/rapid2016.en-lt.tmx.zip": 11_300_000,
    "https://tilde.example/airbaltic.en-lt.tmx.zip": 11_300,
    "http://data.statmt.org/DCEP/EN-LT.en.xz": 20_000_000,
    "http://data.statmt.org/DCEP/EN-LT.lt.xz": 25_200_000,
    "https://wt-public.emm4u.eu/Resources/EAC-TM/EAC-TM-all.zip": 3_500_000,
    "https://lindat.example/khresmoi.zip": 1_000_000,
    NLLB.format("en"): 52_000_000_000,
    NLLB.format("lt"): 5_650_000_000,
}


def opus_row(corpus: str, version: str, pairs: int | None, **other: Any) -> dict[str, Any]:
    """A corpus as OPUS's API has it."""
    return {
        "alignment_pairs": pairs,
        "corpus": corpus,
        "documents": "",
        "id": 31736,
        "latest": "True",
        "preprocessing": "moses",
        "size": 1000,
        "source": "en",
        "source_tokens": 73463,
        "target": "lt",
        "target_tokens": 68625,
        "url": f"https://object.pouta.csc.fi/OPUS-{corpus}/{version}/moses/en-lt.txt.zip",
        "version": version,
        **other,
    }


OPUS_ROWS = [
    opus_row("Europarl", "v8", 635_146),
    opus_row("ELRC-416-Swedish_Social_Secur", "v1", 146),
    opus_row("ELRC-416-Swedish_Social_Secur", "v1", 147),
    opus_row("ParaCrawl", "v9", 13_192_237),
    opus_row("ParaCrawl", "v8", 5_000_000, latest="False"),
    opus_row("NLLB", "v1", 23_298_629),
    opus_row("CCMatrix", "v1", 23_298_368),
    opus_row("WMT-News", "v2019", 5998),
    opus_row("ELRC_2922", "v1", 200),
    opus_row("translatewiki", "v2025-01-01", None),
]
LICENCES = {
    "ParaCrawl": "contact: empty\nlicense: empty\nname: ParaCrawl\n",
    "NLLB": "license: '<a href=https://opendatacommons.org/licenses/by/1-0/>ODC-By</a>'\nname: NLLB\n",
    "Europarl": 'name: Europarl\nlicense: <a href="x" target="_blank">Public\tdomain</a>\n',
}


def repository(name: str, *tags: str, **other: Any) -> dict[str, Any]:
    """A dataset as the hub's API has it."""
    return {"_id": "62", "id": name, "downloads": 120, "likes": 3, "private": False, "tags": [*tags], **other}


def of_pair(source: str, target: str, split: str = "train") -> dict[str, Any]:
    """A subset of a pair of languages, as a card tells of it."""
    return {
        "config_name": f"{source}-{target}",
        "features": [
            {"name": "id", "dtype": "string"},
            {"name": "translation", "dtype": {"translation": {"languages": [source, target]}}},
        ],
        "splits": [{"name": split, "num_bytes": 9, "num_examples": 35_000}],
    }


HUB = [
    repository("tiny/pairs", "task_categories:translation", "size_categories:n<1K"),
    repository("big/pairs", "task_categories:translation", "size_categories:10M<n<100M", "license:cc0-1.0"),
    repository("locked/pairs", "task_categories:translation", "size_categories:1M<n<10M", gated="manual"),
    repository("some/speech", "task_categories:automatic-speech-recognition"),
    repository(
        "told/columns",
        *("task_categories:translation", "size_categories:1M<n<10M", "license:cc-by-4.0"),
        cardData={
            "dataset_info": {
                "features": [{"name": name, "dtype": "string"} for name in ("id", "English", "lt")],
                "splits": [{"name": "train", "num_bytes": 9, "num_examples": 1_200_000}],
            }
        },
    ),
    repository(
        "Some/OPUS_copy", "task_categories:translation", cardData={"dataset_info": [of_pair("en", "lt")]}
    ),
    repository(
        "told/pairs",
        "task_categories:translation",
        cardData={
            "dataset_info": [of_pair("en", "lv"), of_pair("lt", "en"), of_pair("en", "lt", split="test")]
        },
    ),
    repository("web/pages", "size_categories:1B<n<10B"),
]
YEAR = (
    '<tr><td valign="top"><img src="/icons/compressed.gif" alt="[   ]"></td>'
    '<td><a href="news.{year}.{code}.shuffled.deduped.gz">news.{year}.{code}.shuffled.deduped.gz</a></td>'
    '<td align="right">2021-01-08 12:10  </td><td align="right">{size}</td></tr>'
)
README = '<tr><td><a href="README">README</a></td><td align="right">2019-01-14 10:23</td><td>1.2K</td></tr>'
SHARDS = "https://data.hplt-project.org/three/sorted/{0}/10_1.jsonl.zst\n" * 3


def listing(code: str, **years: str) -> bytes:
    """The page of a folder of the News Crawl, by default with two years, the newest first."""
    sizes = {name.removeprefix("of_"): size for name, size in years.items()} or {
        "2020": "224M",
        "2019": "1.2G",
    }
    rows = [YEAR.format(year=year, code=code, size=size) for year, size in sizes.items()]
    return "\n".join(["<html><title>Index</title><table>", *rows, README, "</table></html>"]).encode()


def answers() -> dict[str, bytes]:
    """The servers' answers, by address."""
    return {
        OPUS_API: json.dumps({"corpora": OPUS_ROWS}).encode(),
        HUB_API: json.dumps(HUB).encode(),
        **{LICENCE_OF.format(corpus): text.encode() for corpus, text in LICENCES.items()},
        **{NEWS.format(code): listing(code) for code in ("en", "lt")},
        **{HPLT.format(code): SHARDS.format(code).encode() for code in ("eng_Latn", "lit_Latn")},
    }


def fill_mirror(mirror: Path, contents: Mapping[str, bytes], sizes: Mapping[str, int]) -> None:
    """Write files of a mirror; those of `sizes` are as large as the real ones, and empty on the disk."""
    for url, content in contents.items():
        _place(mirror, url).write_bytes(content)
    for url, size in sizes.items():
        with _place(mirror, url).open("wb") as file:
            file.truncate(size)


def _place(mirror: Path, url: str) -> Path:
    parts = urlsplit(url)
    name = f"{parts.netloc}{parts.path}" + (f"?{parts.query}" if parts.query else "")
    path = mirror / (f"{name}index.html" if name.endswith("/") else name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def server(away: set[str]) -> Callable[..., requests.Response]:
    """Stand-in for `requests.get` and `requests.head`: hosts that are away, others that have nothing."""

    def answer(url: str, **_: object) -> requests.Response:
        if urlsplit(url).netloc in away:
            raise requests.ConnectionError(url)
        response = requests.Response()
        response.status_code, response.raw = 404, io.BytesIO()
        return response

    return answer
