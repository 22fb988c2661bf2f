"""Import a text file behind a URL; [LANG] in it stands for the language's code.

The URL begins with https://, http://, gs:// or file://; the file is .zst, .gz or plain.

    python -m pipeline.data.mono_url --dataset 'https://example.org/news.[LANG].zst' \\
        --lang ru --code ru --max-sentences 100000 --output mono
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.script import run
from pipeline.data.imports import Origin
from pipeline.data.mono import Request, Text, import_mono
from pipeline.data.text_urls import PLACEHOLDER, fetch_text
from pipeline.data.texts import file_lines


def main(argv: Sequence[str] | None = None) -> None:
    """Write mono.{lang}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    import_mono(parser, argv, download)


def download(request: Request, scratch: Path) -> Text:
    """The file at the URL."""
    file, source = fetch_text(request.dataset.replace(PLACEHOLDER, request.code), "text", scratch)
    return Text(file_lines(file), Origin([source]))


if __name__ == "__main__":
    run(main)
