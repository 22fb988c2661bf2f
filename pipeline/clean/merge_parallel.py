"""Merge parallel corpora: no lines of the test sets, and the best pair for each target sentence.

    python -m pipeline.clean.merge_parallel --src en --trg ru --datasets opus_A/v1 opus_B/v2 \\
        --corpus-src A.en.zst B.en.zst --corpus-trg A.ru.zst B.ru.zst --scores A.scores.zst B.scores.zst \\
        --held-out-src dev.en.zst test.en.zst --held-out-trg dev.ru.zst test.ru.zst \\
        --max-sentences 100000000 --seed 1 --output merged

    merged/corpus.en.zst, merged/corpus.ru.zst   the pairs, in the order of the data sets
    merged/sample.txt                            1,000 of them, uniformly chosen: source, tab, target
    merged/stats.json                            lines in, kept, dropped by reason, overall and per data set

Lines count as the same when they agree in NFC with white space collapsed; what is written is the text as it
was, with tabs and carriage returns made spaces. The reasons to drop a pair, in this order:

    empty          a side is empty
    held_out_src   the source stands in a file of --held-out-src
    held_out_trg   the target stands in a file of --held-out-trg
    duplicate      another pair with the same target has a better score, or the same and comes first
    sampled_out    more than --max-sentences were left, and a uniform, seeded choice fell on others

Without --scores all pairs are equally good. Dev sets are merged in the same way, with the test sets held out.
The text streams twice; memory grows with the held-out sets alone, scratch space is in the output folder
(1 byte a line, and 32 more beyond about eight million lines).
"""

import argparse
import logging
from collections.abc import Sequence
from itertools import repeat

from pipeline.clean.arguments import add_files, add_output, check_counts, positive
from pipeline.clean.held_out import held_out_lines
from pipeline.clean.merged import Merged, write_rows
from pipeline.clean.merging import Dataset, Policy, Row, Verdict, judge
from pipeline.common.script import run
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description="Merge parallel corpora, without duplicates and test sentences."
    )
    parser.add_argument("--src", required=True, help="source language, e.g. en")
    parser.add_argument("--trg", required=True, help="target language, e.g. ru")
    parser.add_argument(
        "--datasets", required=True, nargs="+", help="names of the data sets, for the numbers"
    )
    add_files(parser, "--corpus-src", "source side of each data set", required=True)
    add_files(parser, "--corpus-trg", "target side of each data set", required=True)
    add_files(parser, "--scores", "for each data set a file with a score a line, higher is better")
    add_files(parser, "--held-out-src", "source sides of the sets whose sentences must not be in the result")
    add_files(parser, "--held-out-trg", "target sides of these sets")
    parser.add_argument("--max-sentences", type=positive, help="keep at most so many pairs")
    add_output(parser)
    return parser.parse_args(argv)


def datasets_of(args: argparse.Namespace) -> list[Dataset]:
    """The data sets that the options name; raises InputError when their numbers differ."""
    check_counts(args.datasets, corpus_src=args.corpus_src, corpus_trg=args.corpus_trg)
    if args.scores:
        check_counts(args.datasets, scores=args.scores)
    files = zip(args.corpus_src, args.corpus_trg, strict=True)
    return list(map(Dataset, args.datasets, files, args.scores or repeat(None)))


def target(pair: Row) -> str:
    """What makes two pairs duplicates."""
    return pair[1]


def main(argv: Sequence[str] | None = None) -> None:
    """Merge parallel corpora; see the module's text."""
    args = parse_arguments(argv)
    logger.info("merging %s", ", ".join(args.datasets))
    datasets = datasets_of(args)
    held_out = (
        (Verdict.HELD_OUT_SRC, held_out_lines(args.held_out_src)),
        (Verdict.HELD_OUT_TRG, held_out_lines(args.held_out_trg)),
    )
    with staged(args.output) as (folder, scratch):
        judgement = judge(datasets, Policy(target, held_out), scratch)
        merged = Merged(datasets, judgement, args.seed, args.max_sentences)
        names = (f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst")
        sample = write_rows(merged.rows(), folder, names, args.seed)
        merged.write_stats(folder / "stats.json", sample)


if __name__ == "__main__":
    run(main)
