"""Memory to learn a vocabulary, by the lines of the sample.

    python -m benchmarks.vocabulary_memory --langs en fr --corpus corpus.en.gz corpus.fr.gz \\
        [--lines 50000 200000] [--split] [--vocab-size 8000]

Prints for each sample its lines and characters, the peak of the script's memory, and what the script reckons.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

UNLIMITED = "1000000"  # MB


def main(argv: Sequence[str] | None = None) -> None:
    """Print the figures; see the module's text."""
    args = parse_arguments(argv)
    print("| lines | characters | reckoned, MB | peak, MB |")
    for lines in args.lines:
        reckoned = _run(args, lines, "1")[1]
        peak, _ = _run(args, lines, UNLIMITED)
        print(f"| {' | '.join(_REFUSED.findall(reckoned)[0])} | {peak:,.0f} |", flush=True)


_REFUSED = re.compile(r"A vocabulary of ([\d,]+) lines with ([\d,]+) characters takes ([\d,]+) MB")


def _run(args: argparse.Namespace, lines: int, megabytes: str) -> tuple[float, str]:
    """The script's peak memory in MB, and what it says."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["--norm-rule", "nmt_nfkc", "--seed", "1", "--output", f"{folder}/out", "--bicameral"]
        options += ["--curriculum", "pipeline/train/configs/curriculum/teacher.one-stage.yml"]
        options += [
            "--vocab-size",
            str(args.vocab_size),
            "--sample-size",
            str(lines),
            *["--split"] * args.split,
        ]
        for side, lang, corpus in zip(("src", "trg"), args.langs, args.corpus, strict=True):
            options += [f"--{side}", lang, f"--corpus-{side}", str(corpus)]
        process = subprocess.Popen(
            [sys.executable, "-m", "pipeline.train.vocab", *options],
            env={**os.environ, "TRANSLATIONS_MEMORY": megabytes},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr
        said = process.stderr.read()
        _, _, usage = os.wait4(process.pid, 0)
        return usage.ru_maxrss * 1024 / 1e6, said


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--langs", required=True, nargs=2, help="the two languages")
    add("--corpus", required=True, nargs=2, type=Path, help="their parallel text")
    add("--lines", nargs="+", type=int, default=[50_000, 200_000], help="of the sample (pairs with --split)")
    add("--split", action="store_true", help="a vocabulary of each side")
    add("--vocab-size", type=int, default=8000, help="number of pieces")
    return parser.parse_args(argv)


if __name__ == "__main__":
    main()
