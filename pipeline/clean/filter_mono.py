"""Keep the lines of a text whose score is above a threshold.

    python -m pipeline.clean.filter_mono --lang ru --text mono.ru.zst --scores scores.zst --threshold 0.7 \\
        --output filtered

    filtered/mono.ru.zst    the lines, in the given order
    filtered/scores.zst     their scores
    filtered/stats.json     lines in, kept, dropped (low_score); samples of what was dropped
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pipeline.clean.thresholds import keep_above
from pipeline.common.script import run


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Keep the lines whose score is above a threshold.")
    parser.add_argument("--lang", required=True, help="language, e.g. ru")
    parser.add_argument("--text", required=True, type=Path, help="the text, one sentence a line")
    parser.add_argument("--scores", required=True, type=Path, help="a score a line")
    parser.add_argument("--threshold", required=True, type=float, help="what a score must exceed, e.g. 0.7")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Filter a text; see the module's text."""
    args = parse_arguments(argv)
    keep_above(args.threshold, args.scores, [args.text], [f"mono.{args.lang}.zst"], args.output)


if __name__ == "__main__":
    run(main)
