"""Keep the pairs of a corpus whose score is above a threshold.

    python -m pipeline.clean.filter_parallel --src en --trg ru --corpus-src corpus.en.zst \\
        --corpus-trg corpus.ru.zst --scores scores.zst --threshold 0.5 --output filtered

    filtered/corpus.en.zst, corpus.ru.zst    the pairs, in the given order
    filtered/scores.zst                      their scores
    filtered/stats.json                      lines in, kept, dropped (low_score); samples of what was dropped
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.thresholds import keep_above
from pipeline.common.script import run


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Keep the pairs whose score is above a threshold.")
    parser.add_argument("--src", required=True, help="source language, e.g. en")
    parser.add_argument("--trg", required=True, help="target language, e.g. ru")
    parser.add_argument("--corpus-src", required=True, type=Path, help="source side")
    parser.add_argument("--corpus-trg", required=True, type=Path, help="target side")
    parser.add_argument("--scores", required=True, type=Path, help="a score a line")
    parser.add_argument("--threshold", required=True, type=float, help="what a score must exceed, e.g. 0.5")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Filter a corpus; see the module's text."""
    args = parse_arguments(argv)
    names = (f"corpus.{args.src}.zst", f"corpus.{args.trg}.zst")
    keep_above(args.threshold, args.scores, (args.corpus_src, args.corpus_trg), names, args.output)


if __name__ == "__main__":
    run(main)
