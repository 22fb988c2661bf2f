"""Score a parallel corpus with a translation model: the log-probability per token of each target.

    python -m pipeline.cefilter.score --model backwards --model-source corpus.ru.zst \\
        --model-target corpus.en.zst --output scores

The sides are named in the model's own direction, so for the distilled corpus of en → ru and the backwards
model, ru is the source. Writes scores.zst, a number a line (at most 0, higher is better), and stats.json.
What is scored is kept in checkpoint sets.
"""

import argparse
import logging
import math
from collections.abc import Sequence
from pathlib import Path

from pipeline.cefilter.scores import read_scores
from pipeline.common.finished import finished_lines
from pipeline.common.lines import count_lines
from pipeline.common.made_from import MadeFrom
from pipeline.common.marian import score_blocks
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write scores.zst and stats.json."""
    args = parse_arguments(argv)
    with staged(args.output) as (output, scratch):
        scores = output / "scores.zst"
        texts = args.model_source, args.model_target
        made_from = MadeFrom({"the model": args.model, "the source": texts[0], "the target": texts[1]}, {})
        with finished_lines(scratch, made_from) as finished:
            finished.add_all(score_blocks(args.model, *texts, scratch, finished.number))
            finished.require(count_lines(args.model_source), args.model_source)
            lines = finished.write(scores)
        mean = math.fsum(read_scores(scores)) / lines if lines else None
        log.info("%d pairs, mean score %s", lines, mean)
        stats = {"lines": {"in": lines, "kept": lines, "dropped": {}}, "mean": mean}
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, type=Path, help="the model's folder")
    parser.add_argument("--model-source", required=True, type=Path, help="what the model translates from")
    parser.add_argument("--model-target", required=True, type=Path, help="what the model translates to")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
