"""Import a parallel corpus from two files of text, .zst, .gz or plain.

    python -m pipeline.data.parallel_file --src en --trg ru \\
        --corpus-src news.en.gz --corpus-trg news.ru.gz --output news
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.script import new_folder, run
from pipeline.data.files import counted_pairs, recognised
from pipeline.data.imports import Origin, import_stats, publish, refuse_empty, scratch_folder
from pipeline.data.parallel import write_pairs


def main(argv: Sequence[str] | None = None) -> None:
    """Write corpus.{src}.zst, corpus.{trg}.zst and stats.json."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--src", required=True, help="source language, as it stands in file names")
    parser.add_argument("--trg", required=True, help="target language, as it stands in file names")
    parser.add_argument("--corpus-src", required=True, type=Path, help="the source side, a sentence a line")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="the target side")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the corpus")
    args = parser.parse_args(argv)
    output = new_folder(args.output)
    with scratch_folder(output, f"{args.src}-{args.trg}") as scratch:
        given = [(args.corpus_src, args.src), (args.corpus_trg, args.trg)]
        sides = [recognised(file, lang, scratch) for file, lang in given]
        files = [scratch / f"corpus.{lang}.zst" for _, lang in given]
        written, samples = write_pairs(counted_pairs(*sides), files)
        refuse_empty(written, Origin())
        publish(files, import_stats(written, {}, samples, Origin()), output)


if __name__ == "__main__":
    run(main)
