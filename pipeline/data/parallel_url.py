"""Import a parallel corpus from two text files behind a URL with [LANG] in it.

The URL begins with https://, http://, gs:// or file://; the files are .zst, .gz or plain.

    python -m pipeline.data.parallel_url --dataset 'https://example.org/news.[LANG].zst' \\
        --src en --trg ru --src-code en --trg-code ru --output news
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.script import run
from pipeline.data.imports import Origin
from pipeline.data.parallel import Corpus, Request, import_parallel
from pipeline.data.text_urls import fetch_text, language_url
from pipeline.data.texts import file_pairs


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_parallel(parser, argv, download)


def download(request: Request, scratch: Path) -> Corpus:
    """The file for the source language's code beside the one for the target language's."""
    urls = [language_url(request.dataset, code) for code in (request.src_code, request.trg_code)]
    src, src_source = fetch_text(urls[0], request.src_code, scratch)
    trg, trg_source = fetch_text(urls[1], request.trg_code, scratch)
    return Corpus(file_pairs(src, trg), Origin([src_source, trg_source]))


if __name__ == "__main__":
    run(main)
