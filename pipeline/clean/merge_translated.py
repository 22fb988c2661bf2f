"""Merge the student's training text: the parallel corpus and the mono text, both translated by the teacher.

    python -m pipeline.clean.merge_translated --src en --trg ru \\
        --corpus-src corpus.en.zst --corpus-trg distilled.ru.zst \\
        --mono-src mono.en.zst --mono-trg mono.ru.zst \\
        --held-out-src dev.en.zst test.en.zst --held-out-trg dev.ru.zst test.ru.zst --seed 1 --output merged

    merged/corpus.en.zst, merged/corpus.ru.zst   the pairs, shuffled
    merged/sample.txt                            1,000 of them, uniformly chosen: source, tab, target
    merged/stats.json                            lines in, kept, dropped by reason, in all and of each part

Without --mono-src and --mono-trg the parallel part alone is taken. Pairs count as the same when both sides
agree in NFC with white space collapsed. The reasons to drop a pair, in this order: empty (a side is),
held_out_src and held_out_trg (it stands in a file of that option), duplicate (the pair came before).

The order is fixed by the seed and the number of lines kept. Memory and scratch space are as for
pipeline.clean.merge_parallel; a text of more than 100 million characters is shuffled through the scratch
space.
"""

import argparse
import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.clean.arguments import add_files, add_output
from pipeline.clean.held_out import held_out_lines
from pipeline.clean.merged import Merged, write_rows
from pipeline.clean.merging import Dataset, Policy, Row, Verdict, judge
from pipeline.clean.shuffling import shuffled
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Merge and shuffle the text that the teacher translated.")
    parser.add_argument("--src", required=True, help="source language, e.g. en")
    parser.add_argument("--trg", required=True, help="target language, e.g. ru")
    parser.add_argument("--corpus-src", required=True, type=Path, help="source side of the parallel corpus")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="its translation")
    parser.add_argument("--mono-src", type=Path, help="source text without a reference")
    parser.add_argument("--mono-trg", type=Path, help="its translation")
    add_files(parser, "--held-out-src", "source sides of the sets whose sentences must not be in the result")
    add_files(parser, "--held-out-trg", "target sides of these sets")
    add_output(parser)
    return parser.parse_args(argv)


def datasets_of(args: argparse.Namespace) -> list[Dataset]:
    """The parallel part and, when it is given, the mono part."""
    corpus = Dataset("corpus", (args.corpus_src, args.corpus_trg))
    if args.mono_src is None and args.mono_trg is None:
        return [corpus]
    if args.mono_src is None or args.mono_trg is None:
        raise InputError("Of --mono-src and --mono-trg only one is given. Give both, or neither.")
    return [corpus, Dataset("mono", (args.mono_src, args.mono_trg))]


def shuffled_rows(rows: Iterator[Row], characters: int, seed: int, scratch: Path) -> Iterator[Row]:
    """The rows in an order that the seed and their number fix; no side may hold a tab."""
    lines = shuffled(map("\t".join, rows), characters, seed, scratch)
    return (tuple(line.split("\t")) for line in lines)


def main(argv: Sequence[str] | None = None) -> None:
    """Merge and shuffle translated text; see the module's text."""
    args = parse_arguments(argv)
    datasets = datasets_of(args)
    logger.info("merging %s, seed %d", ", ".join(dataset.name for dataset in datasets), args.seed)
    held_out = (
        (Verdict.HELD_OUT_SRC, held_out_lines(args.held_out_src)),
        (Verdict.HELD_OUT_TRG, held_out_lines(args.held_out_trg)),
    )
    with staged(args.output) as (folder, scratch):
        judgement = judge(datasets, Policy("\t".join, held_out), scratch)
        merged = Merged(datasets, judgement, args.seed)
        rows = shuffled_rows(merged.rows(), judgement.characters, args.seed, scratch)
        sample = write_rows(rows, folder, (f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst"), args.seed)
        merged.write_stats(folder / "stats.json", sample)


if __name__ == "__main__":
    run(main)
