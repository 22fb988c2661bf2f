"""Put translated parts together again, in the order given, and check that every line has its translation.

    python -m pipeline.translate.collect --parts part.1.zst part.2.zst --text mono.ru.zst \\
        --name mono.en.zst --output collected

Writes the file NAME and stats.json.
"""

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from pipeline.common.errors import InputError
from pipeline.common.lines import concatenate, count_lines
from pipeline.common.script import run, write_json
from pipeline.common.staging import staged

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> None:
    """Write the collected text and stats.json."""
    args = parse_arguments(argv)
    if args.name != Path(args.name).name:
        raise InputError(f"--name must be a file name without folders, not {args.name}")
    lines = count_lines(args.text)
    with staged(args.output) as (output, _):
        sizes = concatenate(args.parts, output / args.name)
        if sum(sizes) != lines:
            raise InputError(
                f"The {len(sizes)} parts have {sum(sizes):,} lines together, {args.text} has {lines:,}. "
                "A part is missing or incomplete."
            )
        log.info("%d parts, %d lines", len(sizes), lines)
        stats = {"lines": {"in": lines, "kept": lines, "dropped": {}}, "parts": sizes}
        write_json(output / "stats.json", stats)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", required=True, nargs="+", type=Path, help="translated parts, in order")
    parser.add_argument("--text", required=True, type=Path, help="the text that was split")
    parser.add_argument("--name", required=True, help="name of the file to write, such as mono.en.zst")
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


if __name__ == "__main__":
    run(main)
