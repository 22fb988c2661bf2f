"""Merge texts of one language into one: without duplicates, lines of the parallel corpus and test sentences.

    python -m pipeline.clean.merge_mono --lang ru --datasets news-crawl_news.2021 opus_A/v1 \\
        --text news.ru.zst A.ru.zst --parallel corpus.ru.zst --held-out dev.ru.zst test.ru.zst \\
        --max-sentences 100000000 --seed 1 --output merged

    merged/mono.ru.zst    the lines, shuffled
    merged/sample.txt     10,000 of them, uniformly chosen
    merged/stats.json     lines in, kept, dropped by reason, overall and per data set

Lines count as the same when they agree in NFC with white space collapsed. The reasons to drop a line, in this
order:

    empty         nothing on it
    held_out      it stands in a file of --held-out, and there has at least five words
    in_parallel   it stands in --parallel
    duplicate     it came before
    sampled_out   more than --max-sentences were left, and a uniform, seeded choice fell on others

With --diverse that choice takes less of what repeats itself: lines are put into up to 200 clusters by their
runs of bytes (pipeline.clean.clusters), and each gives by the number of different runs that it has.

--near-duplicates, --weights, order, memory and scratch space are as for pipeline.clean.merge_parallel; the
lines of --parallel count, too.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.arguments import add_files, add_output, add_sampling, check_counts, weights_of
from pipeline.clean.columns import Dataset
from pipeline.clean.diverse import limit_diverse
from pipeline.clean.held_out import HeldOut
from pipeline.clean.merged import limit_rows, write_merged
from pipeline.clean.merging import Policy, judge, last_side
from pipeline.common.errors import InputError
from pipeline.common.script import run
from pipeline.common.staging import staged

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Merge texts of one language, without duplicates.")
    parser.add_argument("--lang", required=True, help="language, e.g. ru")
    parser.add_argument(
        "--datasets", required=True, nargs="+", help="names of the data sets, for the numbers"
    )
    add_files(parser, "--text", "text of each data set", required=True)
    parser.add_argument(
        "--parallel", required=True, type=Path, help="this language's side of the parallel corpus"
    )
    add_files(
        parser, "--held-out", "this language's side of the sets whose sentences must not be in the result"
    )
    add_sampling(parser)
    parser.add_argument(
        "--diverse",
        action="store_true",
        help="choose less of what repeats itself, not uniformly",
    )
    add_output(parser)
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Merge texts of one language; see the module's text."""
    args = parse_arguments(argv)
    check_counts(args.datasets, text=args.text)
    logger.info("merging %s, without the lines of %s", ", ".join(args.datasets), args.parallel)
    datasets = [Dataset(name, (text,)) for name, text in zip(args.datasets, args.text, strict=True)]
    weights = weights_of(args)
    if args.diverse and not args.max_sentences:
        raise InputError("--diverse says how --max-sentences chooses, and there is none. Give both.")
    held_out = HeldOut((args.lang,), (args.held_out,))
    with staged(args.output) as (folder, scratch):
        policy = Policy(last_side, held_out, known=args.parallel, near=args.near_duplicates)
        judgement = judge(datasets, policy, scratch)
        if args.diverse:
            limit_diverse(datasets, judgement, args.max_sentences, args.seed, weights, scratch)
        elif args.max_sentences:
            limit_rows(judgement, args.max_sentences, args.seed, weights)
        write_merged(datasets, judgement, folder, [f"mono.{args.lang}.zst"], args.seed, scratch)


if __name__ == "__main__":
    run(main)
