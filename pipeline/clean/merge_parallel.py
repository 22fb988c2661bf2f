"""Merge parallel corpora: no lines of the test sets, and the best pair for each target sentence.

    python -m pipeline.clean.merge_parallel --src en --trg ru --datasets opus_A/v1 opus_B/v2 \\
        --corpus-src A.en.zst B.en.zst --corpus-trg A.ru.zst B.ru.zst --scores A.scores.zst B.scores.zst \\
        --held-out-src dev.en.zst test.en.zst --held-out-trg dev.ru.zst test.ru.zst \\
        --max-sentences 100000000 --seed 1 --output merged

    merged/corpus.en.zst, merged/corpus.ru.zst   the pairs, in the order of the data sets
    merged/sample.txt                            10,000 of them, uniformly chosen: source, tab, target
    merged/stats.json                            lines in, kept, dropped by reason, overall and per data set

Lines count as the same when they agree in NFC with white space collapsed; with --near-duplicates when they
agree in letters and digits, whatever case, punctuation and white space are. What is written is the text as it
was, with tabs and carriage returns made spaces. The reasons to drop a pair, in this order:

    empty          a side is empty
    held_out_src   the source stands in a file of --held-out-src
    held_out_trg   the target stands in a file of --held-out-trg
    duplicate      another pair with the same target has a better score, or the same and comes first
    sampled_out    more than --max-sentences were left, and a uniform, seeded choice fell on others

Without --scores all pairs are equally good. With --weights, one for each data set, a data set gives of
--max-sentences in proportion to its weight times its pairs, as long as it has some; within it the choice is
uniform. Dev sets are merged in the same way, with the test sets held out.

The text streams twice; memory is bounded by TRANSLATIONS_MEMORY (but for the lines of the held-out sets), and
the result does not depend on it. Scratch space, in the output folder, is 33 bytes a pair, 8 more with scores,
and 32 more when the pairs' keys do not fit in memory.
"""

import argparse
import logging
from collections.abc import Sequence
from itertools import repeat

from pipeline.clean.arguments import add_files, add_output, add_sampling, check_counts, weights_of
from pipeline.clean.columns import Dataset
from pipeline.clean.merged import limit_rows, write_merged
from pipeline.clean.merging import Policy, Verdict, judge, last_side
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
    add_sampling(parser)
    add_output(parser)
    return parser.parse_args(argv)


def datasets_of(args: argparse.Namespace) -> list[Dataset]:
    """The data sets that the options name; raises InputError when their numbers differ."""
    check_counts(args.datasets, corpus_src=args.corpus_src, corpus_trg=args.corpus_trg)
    if args.scores:
        check_counts(args.datasets, scores=args.scores)
    files = zip(args.corpus_src, args.corpus_trg, strict=True)
    return list(map(Dataset, args.datasets, files, args.scores or repeat(None)))


def main(argv: Sequence[str] | None = None) -> None:
    """Merge parallel corpora; see the module's text."""
    args = parse_arguments(argv)
    logger.info("merging %s", ", ".join(args.datasets))
    datasets, weights = datasets_of(args), weights_of(args)
    held_out = ((Verdict.HELD_OUT_SRC, args.held_out_src), (Verdict.HELD_OUT_TRG, args.held_out_trg))
    with staged(args.output) as (folder, scratch):
        judgement = judge(datasets, Policy(last_side, held_out, near=args.near_duplicates), scratch)
        if args.max_sentences:
            limit_rows(judgement, args.max_sentences, args.seed, weights)
        names = (f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst")
        write_merged(datasets, judgement, folder, names, args.seed)


if __name__ == "__main__":
    run(main)
