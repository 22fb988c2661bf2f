"""Puts the alignments of a corpus' parts together again, in the order given, tokens and links alike.

    python -m pipeline.alignments.collect --src en --trg eo \\
        --tokens-src 1/corpus.tok-icu.en.zst 2/corpus.tok-icu.en.zst \\
        --tokens-trg 1/corpus.tok-icu.eo.zst 2/corpus.tok-icu.eo.zst \\
        --alignments 1/corpus.aln.zst 2/corpus.aln.zst --corpus-src corpus.en.zst --output alignments

writes corpus.tok-icu.{src}.zst, corpus.tok-icu.{trg}.zst, corpus.aln.zst and stats.json.

The three files of a part must be equally long, and the parts together as long as the corpus.
"""

import argparse
import logging
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import concatenate, count_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the files named above."""
    args = parse_arguments(argv)
    files = {
        f"corpus.tok-icu.{args.src}.zst": args.tokens_src,
        f"corpus.tok-icu.{args.trg}.zst": args.tokens_trg,
        "corpus.aln.zst": args.alignments,
    }
    lines = count_lines(args.corpus_src)
    with staged(args.output) as (output, _):
        sizes = {name: concatenate(parts, output / name) for name, parts in files.items()}
        check_parallel(sizes)
        parts = sizes["corpus.aln.zst"]
        if sum(parts) != lines:
            raise InputError(
                f"The {len(parts)} parts have {sum(parts):,} lines together, {args.corpus_src} has "
                f"{lines:,}. A part is missing or incomplete."
            )
        logger.info("%d parts, %s lines", len(parts), f"{lines:,}")
        stats = {"lines": {"in": lines, "kept": lines, "dropped": {}}, "parts": parts}
        write_json(output / "stats.json", stats)


def check_parallel(sizes: Mapping[str, Sequence[int]]) -> None:
    """Raise InputError unless every part has as many lines in one file as in the others."""
    for number, lines in enumerate(zip_longest(*sizes.values(), fillvalue=0), start=1):
        if len(set(lines)) > 1:
            counts = ", ".join(f"{size:,} for {name}" for name, size in zip(sizes, lines, strict=True))
            raise InputError(
                f"Part {number} has unequal numbers of lines: {counts}. A file is missing or incomplete."
            )


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--src", required=True, help="source language, for file names")
    add("--trg", required=True, help="target language")
    add("--tokens-src", required=True, nargs="+", type=Path, help="source tokens of the parts, in order")
    add("--tokens-trg", required=True, nargs="+", type=Path, help="target tokens of the parts")
    add("--alignments", required=True, nargs="+", type=Path, help="links of the parts")
    add("--corpus-src", required=True, type=Path, help="the text that was split, source side")
    add("--output", required=True, type=Path, help="new folder for the results")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
