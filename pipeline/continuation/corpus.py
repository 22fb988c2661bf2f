"""Fetch a parallel corpus of an earlier run: merged, back-translated or distilled text.

    python -m pipeline.continuation.corpus --src en --trg ru \\
        --src-url https://example.org/run/corpus.en.zst --trg-url https://example.org/run/corpus.ru.zst \\
        --output corpus

writes corpus.{src}.zst, corpus.{trg}.zst and stats.json. The files, .zst, .gz or plain, must be UTF-8,
equally long and not empty. No line is dropped, as alignments belong to the lines as they are; tabs become
spaces.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.continuation.addresses import told_of
from pipeline.data.imports import Origin, import_stats
from pipeline.data.parallel import write_pairs
from pipeline.data.text_urls import fetch_text
from pipeline.data.texts import file_pairs


def main(argv: Sequence[str] | None = None) -> None:
    """Write the corpus and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        src, src_source = fetch_text(args.src_url, args.src, scratch)
        trg, trg_source = fetch_text(args.trg_url, args.trg, scratch)
        with told_of([args.src_url, args.trg_url], scratch):
            written, samples = write_pairs(
                file_pairs(src, trg), [output / f"corpus.{lang}.zst" for lang in (args.src, args.trg)]
            )
            if not written:
                raise InputError("There is no line. Correct the addresses.")
        stats = import_stats(written, {}, samples, Origin([src_source, trg_source]))
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language, for the file name")
    add("--trg", required=True, help="target language, for the file name")
    add("--src-url", required=True, help="where the source side is")
    add("--trg-url", required=True, help="where the target side is")
    add("--output", required=True, type=Path, help="new folder for the corpus")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
