"""Drop the pairs of a corpus with the lowest scores; the others keep their order.

    python -m pipeline.cefilter.filter --src en --trg ru --corpus-src corpus.en.zst \\
        --corpus-trg corpus.ru.zst --scores scores.zst --drop 0.05 --output filtered

Of N pairs ⌊drop · N⌋ are dropped. Among equal scores, the pair that stands earlier is dropped first. Writes
corpus.{src}.zst, corpus.{trg}.zst and stats.json. The scores are held in memory, 16 bytes a pair.
"""

import argparse
import logging
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pipeline.cefilter.scores import read_scores
from pipeline.common.errors import InputError
from pipeline.common.lines import LineWriter, zip_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

SAMPLES = 10
SAMPLE_CHARACTERS = 200

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the filtered corpus and stats.json."""
    args = parse_arguments(argv)
    if not 0 <= args.drop < 1:
        raise InputError(f"--drop must be at least 0 and less than 1, not {args.drop}")
    scores = np.fromiter(read_scores(args.scores), dtype=np.float64)
    worst = Worst(scores, math.floor(args.drop * len(scores)))
    with staged(args.output) as (output, _):
        stats = write_kept(args, worst, output)
        log.info("%s, scores up to %s dropped", stats["lines"], worst.limit)
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--src", required=True, help="source language, for the file name")
    parser.add_argument("--trg", required=True, help="target language, for the file name")
    parser.add_argument("--corpus-src", required=True, type=Path, help="source side")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="target side")
    parser.add_argument("--scores", required=True, type=Path, help="a number for each pair, higher is better")
    parser.add_argument(
        "--drop", required=True, type=Fraction, help="share of the pairs to drop, such as 0.05"
    )
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def write_kept(args: argparse.Namespace, worst: "Worst", output: Path) -> dict[str, object]:
    """Write the pairs that are kept; returns what stats.json holds, with samples of those dropped."""
    samples: list[list[str]] = []
    with (
        LineWriter(output / f"corpus.{args.src}.zst") as src,
        LineWriter(output / f"corpus.{args.trg}.zst") as trg,
    ):
        for dropped, source, target in judged(args, worst):
            if not dropped:
                src.write(source)
                trg.write(target)
            elif len(samples) < SAMPLES:
                samples.append([source[:SAMPLE_CHARACTERS], target[:SAMPLE_CHARACTERS]])
    counts = {"in": src.lines + worst.number, "kept": src.lines, "dropped": {"low score": worst.number}}
    limit = worst.limit if worst.number else None
    return {"lines": counts, "limit": limit, "samples": samples}


class Worst:
    """The pairs to drop, to be asked about in the corpus's order."""

    def __init__(self, scores: Floats, number: int) -> None:
        """`number` is how many of the lowest scores are dropped."""
        self.number = number
        self.limit = float(np.partition(scores, number - 1)[number - 1]) if number else -math.inf
        self._scores = scores
        # How many of those that score exactly the limit go as well, the earliest first.
        self._ties = number - int(np.count_nonzero(scores < self.limit))

    def __iter__(self) -> Iterator[bool]:
        """Yield for each pair whether it is dropped."""
        ties = self._ties
        for score in self._scores:
            tied = score == self.limit and ties > 0
            ties -= tied
            yield bool(tied or score < self.limit)


def judged(args: argparse.Namespace, worst: Worst) -> Iterator[tuple[bool, str, str]]:
    """Yield the pairs with the verdict on each. Raises InputError when there are not as many as scores."""
    pairs = zip_lines(args.corpus_src, args.corpus_trg)
    number = 0
    for number, dropped in enumerate(worst, start=1):
        pair = next(pairs, None)
        if pair is None:
            raise InputError(f"{args.scores} has more lines than {args.corpus_src} ({number - 1:,})")
        source, target = pair
        yield dropped, source, target
    if next(pairs, None):
        raise InputError(f"{args.corpus_src} has more lines than {args.scores} ({number:,})")


if __name__ == "__main__":
    run(main)
