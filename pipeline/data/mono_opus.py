"""Import the text of one language of an OPUS corpus (https://opus.nlpl.eu).

    python -m pipeline.data.mono_opus --dataset ELRC_2922/v1 \\
        --lang ru --code ru --max-sentences 100000 --output mono
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.lines import read_lines
from pipeline.common.script import run
from pipeline.data.mono import Text, import_mono
from pipeline.data.opus import corpus_url
from pipeline.data.text_urls import fetch_text


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_mono(parser, argv, download)


def download(dataset: str, code: str, scratch: Path) -> Text:
    """The corpus's monolingual file."""
    file, source = fetch_text(f"{corpus_url(dataset)}/mono/{code}.txt.gz", code, scratch)
    return Text(read_lines(file), [source])


if __name__ == "__main__":
    run(main)
