"""Merge texts of one language into one: without duplicates, lines of the parallel corpus and test sentences.

    python -m pipeline.clean.merge_mono --lang ru --datasets news-crawl_news.2021 opus_A/v1 \\
        --text news.ru.zst A.ru.zst --parallel corpus.ru.zst --held-out dev.ru.zst test.ru.zst \\
        --max-sentences 100000000 --seed 1 --output merged

    merged/mono.ru.zst    the lines, in the order of the data sets
    merged/sample.txt     1,000 of them, uniformly chosen
    merged/stats.json     lines in, kept, dropped by reason, overall and per data set

Lines count as the same when they agree in NFC with white space collapsed. The reasons to drop a line, in this
order:

    empty         nothing on it
    held_out      it stands in a file of --held-out
    in_parallel   it stands in --parallel
    duplicate     it came before
    sampled_out   more than --max-sentences were left, and a uniform, seeded choice fell on others

Memory and scratch space are as for pipeline.clean.merge_parallel, with --parallel counted in.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.arguments import add_files, add_output, check_counts, positive
from pipeline.clean.held_out import held_out_lines
from pipeline.clean.merged import Merged, write_rows
from pipeline.clean.merging import Dataset, Policy, Row, Verdict, judge
from pipeline.common.lines import read_lines
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
    parser.add_argument("--max-sentences", type=positive, help="keep at most so many lines")
    add_output(parser)
    return parser.parse_args(argv)


def whole(line: Row) -> str:
    """What makes two lines duplicates."""
    return line[0]


def main(argv: Sequence[str] | None = None) -> None:
    """Merge texts of one language; see the module's text."""
    args = parse_arguments(argv)
    check_counts(args.datasets, text=args.text)
    logger.info("merging %s, without the lines of %s", ", ".join(args.datasets), args.parallel)
    datasets = [Dataset(name, (text,)) for name, text in zip(args.datasets, args.text, strict=True)]
    policy = Policy(whole, ((Verdict.HELD_OUT, held_out_lines(args.held_out)),))
    with staged(args.output) as (folder, scratch):
        judgement = judge(datasets, policy, scratch, known=read_lines(args.parallel))
        merged = Merged(datasets, judgement, args.seed, args.max_sentences)
        sample = write_rows(merged.rows(), folder, [f"mono.{args.lang}.zst"], args.seed)
        merged.write_stats(folder / "stats.json", sample)


if __name__ == "__main__":
    run(main)
