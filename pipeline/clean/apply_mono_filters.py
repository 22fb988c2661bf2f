"""Clean text of one language by the filters of a file of OpusCleaner.

    python -m pipeline.clean.apply_mono_filters --lang zh --code zh_Hans --filters zh.filters.json \\
        --text mono.zh.zst --output filtered

    filtered/mono.zh.zst     the good lines, in the given order
    filtered/stats.json      lines in, kept, dropped by filter; samples of what was dropped

The filters are those of one language, such as `sed`, `regexp` and `detokenizer`, and those that ask the same
of every side: lengths, empty lines, regular expressions. A filter that compares two languages is an error.
In the file `<lang>` stands for the language. As for parallel text, lines of more than 25,000 characters are
dropped before (too_long), and tabs and carriage returns become spaces.

Filters that are not made anew here are run by OpusCleaner itself, more slowly, in an environment that is made
from --opuscleaner-lock when it is first needed.

Lines are worked on in TRANSLATIONS_THREADS processes; the result is the same for any number of them.
"""

import argparse
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pipeline.clean.cleaning import clean
from pipeline.clean.filtering.cleaner import FilterCleaner
from pipeline.clean.filtering.filter_file import read_filter_file
from pipeline.clean.filtering.registry import make_mono_filters
from pipeline.common.environments import interpreter
from pipeline.common.script import run

logger = logging.getLogger(__name__)


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Clean text of one language by the filters of a file.")
    parser.add_argument("--lang", required=True, help="language, e.g. zh_hant")
    parser.add_argument("--code", help="the language in the filter file, e.g. zh_Hant; --lang by default")
    parser.add_argument("--text", required=True, type=Path, help="the text, one sentence a line")
    parser.add_argument("--filters", required=True, type=Path, help="the filter file (.filters.json)")
    parser.add_argument(
        "--opuscleaner-lock", type=Path, help="lock of OpusCleaner's environment, for filters that need it"
    )
    parser.add_argument("--output", required=True, type=Path, help="new folder for the result")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> None:
    """Clean text of one language; see the module's text."""
    args = parse_arguments(argv)
    code = args.code or args.lang
    steps = read_filter_file(args.filters, [code])
    opuscleaner = partial(interpreter, args.opuscleaner_lock) if args.opuscleaner_lock else None
    cleaner = FilterCleaner(make_mono_filters(steps, code, opuscleaner))
    logger.info("cleaning %s: %s", args.text, ", ".join(step.name for step in steps))
    clean([args.text], cleaner, [f"mono.{args.lang}.zst"], args.output)


if __name__ == "__main__":
    run(main)
