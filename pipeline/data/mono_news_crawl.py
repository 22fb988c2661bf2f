"""Import a year of shuffled, de-duplicated news from News Crawl (https://data.statmt.org/news-crawl).

    python -m pipeline.data.mono_news_crawl --dataset news.2021 \\
        --lang ru --code ru --max-sentences 100000 --output mono
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import read_lines
from pipeline.common.script import run
from pipeline.data.mono import Text, import_mono
from pipeline.data.text_urls import fetch_text

FOLDER = "http://data.statmt.org/news-crawl"


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_mono(parser, argv, download)


def download(dataset: str, code: str, scratch: Path) -> Text:
    """One language's file of the year."""
    if not re.fullmatch(r"[\w.-]+", dataset):
        raise InputError(f"{dataset!r} is no News Crawl dataset. Give a year, as in news.2021.")
    file, source = fetch_text(f"{FOLDER}/{code}/{dataset}.{code}.shuffled.deduped.gz", code, scratch)
    return Text(read_lines(file), [source])


if __name__ == "__main__":
    run(main)
