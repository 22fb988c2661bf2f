"""Import the text of one language of an OPUS corpus (https://opus.nlpl.eu).

    python -m pipeline.data.mono_opus --dataset ELRC_2922/v1 \\
        --lang ru --code ru --max-sentences 100000 --output mono
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.script import run
from pipeline.data.imports import Origin
from pipeline.data.mono import Request, Text, import_mono
from pipeline.data.opus import corpus_url, corpus_version
from pipeline.data.text_urls import fetch_text
from pipeline.data.texts import file_lines


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_mono(parser, argv, download)


def download(request: Request, scratch: Path) -> Text:
    """The corpus's monolingual file."""
    url = f"{corpus_url(request.dataset)}/mono/{request.code}.txt.gz"
    file, source = fetch_text(url, request.code, scratch)
    return Text(file_lines(file), Origin([source], revision=corpus_version(request.dataset)))


if __name__ == "__main__":
    run(main)
