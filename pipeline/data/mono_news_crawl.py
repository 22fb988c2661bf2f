"""Import a year of shuffled, de-duplicated news from News Crawl (https://data.statmt.org/news-crawl).

    python -m pipeline.data.mono_news_crawl --dataset news.2021 \\
        --lang ru --code ru --max-sentences 100000 --output mono
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.data.imports import Origin
from pipeline.data.mono import Request, Text, import_mono
from pipeline.data.text_urls import fetch_text
from pipeline.data.texts import file_lines

FOLDER = "http://data.statmt.org/news-crawl"


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_mono(parser, argv, download)


def download(request: Request, scratch: Path) -> Text:
    """One language's file of the year."""
    if not re.fullmatch(r"[\w.-]+", request.dataset):
        raise InputError(f"{request.dataset!r} is no News Crawl dataset. Give a year, as in news.2021.")
    file, source = fetch_text(
        f"{FOLDER}/{request.code}/{request.dataset}.{request.code}.shuffled.deduped.gz", request.code, scratch
    )
    return Text(file_lines(file), Origin([source], revision=request.dataset))


if __name__ == "__main__":
    run(main)
