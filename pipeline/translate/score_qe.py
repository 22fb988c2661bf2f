"""Score a parallel corpus by MetricX-24 without references: the error of each target, below zero.

    python -m pipeline.translate.score_qe --model converted --corpus-src corpus.en.zst \\
        --corpus-trg corpus.ru.zst --output scores

Writes scores.zst, a number a line from -25 to 0 (higher is better), as `pipeline.cefilter.filter` reads it,
and stats.json. What is scored is kept in checkpoint sets.
"""

import argparse
import logging
import math
from collections.abc import Generator, Sequence
from itertools import islice
from pathlib import Path

from pipeline.common.finished import finished_lines
from pipeline.common.lines import count_lines, read_lines, zip_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged
from pipeline.translate.metricx import READ_AHEAD, MetricX
from pipeline.translate.nbest import blocks

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write scores.zst and stats.json."""
    args = parse_arguments(argv)
    made_from = MadeFrom(
        {"the model": args.model, "the source": args.corpus_src, "the target": args.corpus_trg}, {}
    )
    with staged(args.output) as (output, scratch), finished_lines(scratch, made_from) as finished:
        finished.add_all(scores_of(args, finished.number))
        finished.require(count_lines(args.corpus_src), args.corpus_src)
        lines = finished.write(output / "scores.zst")
        mean = math.fsum(map(float, read_lines(output / "scores.zst"))) / lines if lines else None
        log.info("%d pairs, mean score %s", lines, mean)
        stats = {"lines": {"in": lines, "kept": lines, "dropped": {}}, "mean": mean}
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--model", required=True, type=Path, help="folder of the converted model")
    add("--corpus-src", required=True, type=Path, help="source side")
    add("--corpus-trg", required=True, type=Path, help="target side")
    add("--cuda-lock", type=Path, help="lock of an environment with cuBLAS, for GPUs")
    add("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def scores_of(args: argparse.Namespace, done: int) -> Generator[list[str], None, None]:
    """Yield the scores of the pairs after the first `done`, in blocks."""
    metricx = MetricX(args.model, args.cuda_lock)
    pairs = islice(zip_lines(args.corpus_src, args.corpus_trg), done, None)
    for block in blocks(pairs, READ_AHEAD):
        errors = metricx.errors((source, target) for source, target in block)
        yield [f"{-error:.6f}" for error in errors]


if __name__ == "__main__":
    run(main)
