"""Merge parallel corpora: no lines of the test sets, and the best pair for each target sentence.

    python -m pipeline.clean.merge_parallel --src en --trg ru --datasets opus_A/v1 opus_B/v2 \\
        --corpus-src A.en.zst B.en.zst --corpus-trg A.ru.zst B.ru.zst --scores A.scores.zst B.scores.zst \\
        --held-out-src dev.en.zst test.en.zst --held-out-trg dev.ru.zst test.ru.zst \\
        --max-sentences 100000000 --seed 1 --output merged

    merged/corpus.en.zst, merged/corpus.ru.zst   the pairs, shuffled
    merged/sample.txt                            10,000 of them, uniformly chosen: source, tab, target
    merged/stats.json                            lines in, kept, dropped by reason, overall and per data set

Lines count as the same when they agree in NFC with white space collapsed; with --near-duplicates when they
agree in letters and digits, whatever case, punctuation and white space are. What is written is the text as it
was, with tabs and carriage returns made spaces. The reasons to drop a pair, in this order:

    empty          a side is empty
    held_out_pair  the pair stands in the files of --held-out-src and --held-out-trg
    held_out_src   the source stands in a file of --held-out-src, and there has at least five words
    held_out_trg   the target stands in a file of --held-out-trg, and there has at least five words
    duplicate      another pair with the same target has a better score, or the same and comes first
    sampled_out    more than --max-sentences were left, and a uniform, seeded choice fell on others

Without --scores all pairs are equally good. When some of the data sets have scores, --scored names those; the
pairs of the others have the score 1, the best: such a data set is trusted as it is. With --weights, one for
each data set, a data set gives of --max-sentences in proportion to its weight times its pairs, as long as it
has some; within it the choice is uniform. Dev sets are merged in the same way, with the test sets held out.

The order is fixed by the seed and the number of pairs kept: trainings read neighbours together. The text
streams twice; memory is bounded by TRANSLATIONS_MEMORY (but for the lines of the held-out sets), and the
result does not depend on it. Scratch space, in the output folder, is 33 bytes a pair, 8 more with scores, and
32 more when the pairs' keys do not fit in memory; a text that memory does not hold is shuffled through it,
which takes the size of the text that is kept and 16 bytes a pair.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.arguments import add_files, add_output, add_sampling, check_counts, weights_of
from pipeline.clean.columns import Dataset
from pipeline.clean.held_out import HeldOut
from pipeline.clean.merged import limit_rows, write_merged
from pipeline.clean.merging import Policy, judge, last_side
from pipeline.common.errors import InputError
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
    parser.add_argument("--scored", nargs="+", default=[], help="data sets that have scores, if not all")
    add_files(parser, "--held-out-src", "source sides of the sets whose sentences must not be in the result")
    add_files(parser, "--held-out-trg", "target sides of these sets")
    add_sampling(parser)
    add_output(parser)
    return parser.parse_args(argv)


def datasets_of(args: argparse.Namespace) -> list[Dataset]:
    """The data sets that the options name; raises InputError when their numbers differ."""
    check_counts(args.datasets, corpus_src=args.corpus_src, corpus_trg=args.corpus_trg)
    files = zip(args.corpus_src, args.corpus_trg, strict=True)
    return list(map(Dataset, args.datasets, files, _scores_of(args)))


def _scores_of(args: argparse.Namespace) -> list[Path | None]:
    """The file of scores of each data set, None for those that have no scores."""
    scored = args.scored or args.datasets
    if not args.scores and not args.scored:
        return [None] * len(args.datasets)
    check_counts(scored, scores=args.scores)
    unknown = [name for name in scored if name not in args.datasets]
    if unknown:
        raise InputError(f"--scored names {', '.join(unknown)}, which --datasets does not name.")
    scores = dict(zip(scored, args.scores, strict=True))
    return list(map(scores.get, args.datasets))


def main(argv: Sequence[str] | None = None) -> None:
    """Merge parallel corpora; see the module's text."""
    args = parse_arguments(argv)
    logger.info("merging %s", ", ".join(args.datasets))
    datasets, weights = datasets_of(args), weights_of(args)
    files = (args.held_out_src, args.held_out_trg)
    held_out = HeldOut((args.src, args.trg), files, whole_pairs=True)
    with staged(args.output) as (folder, scratch):
        judgement = judge(datasets, Policy(last_side, held_out, near=args.near_duplicates), scratch)
        if args.max_sentences:
            limit_rows(judgement, args.max_sentences, args.seed, weights)
        names = (f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst")
        write_merged(datasets, judgement, folder, names, args.seed, scratch)


if __name__ == "__main__":
    run(main)
